/** Tables that only this domain writes to. */
export const tables = ['builds'] as const;
