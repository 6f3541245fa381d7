/** What only this folder writes to. */
export const tables = ['usage_counters', 'usage_viewers'] as const;
