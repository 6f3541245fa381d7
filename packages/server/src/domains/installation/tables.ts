/** What only this folder writes to. */
export const tables = ['installation'] as const;
