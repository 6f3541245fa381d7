/** The tables that only this folder writes to. */
export const tables = ['embed_revocations', 'embed_sessions'] as const;
