/** What only this folder writes to. */
export const tables = ['workbooks'] as const;
