/** Tables that only this domain writes to. */
export const tables = ['roles'] as const;
