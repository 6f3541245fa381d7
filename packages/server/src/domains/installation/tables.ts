/** Tables that only this domain writes to. */
export const tables = ['installation'] as const;
