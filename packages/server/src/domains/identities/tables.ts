/** Tables that only this domain writes to. */
export const tables = ['identities'] as const;
