/** The tables that only this folder writes to. */
export const tables = ['embed_content_counts', 'embed_tenants'] as const;
