/** Tables that only this domain writes to. */
export const tables = ['workbooks'] as const;
