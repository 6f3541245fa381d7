/** What only this folder writes to. */
export const tables = ['roles'] as const;
