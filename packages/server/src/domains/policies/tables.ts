/** What only this folder writes to. */
export const tables = ['resource_policies'] as const;
