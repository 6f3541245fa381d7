/** The tables that only this folder writes to. */
export const tables = ['embed_tenants'] as const;
