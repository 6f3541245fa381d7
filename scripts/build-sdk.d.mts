/** Builds what host pages import, unless nothing has changed since the last build. */
export function buildSdk(): Promise<void>;
