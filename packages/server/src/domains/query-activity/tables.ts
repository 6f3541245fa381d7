/** What only this folder writes to. */
export const tables = ['running_queries', 'slow_queries'] as const;
