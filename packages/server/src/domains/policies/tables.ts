/** Tables that only this domain writes to. */
export const tables = ['resource_policies'] as const;
