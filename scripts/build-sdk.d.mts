/** Builds what host pages import, unless nothing has changed since the last build. */
export function buildSdk(): Promise<void>;
/** The files that the result depends on beside its sources. */
export const OTHERS: string[];
