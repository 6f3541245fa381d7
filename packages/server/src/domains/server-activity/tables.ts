/** What only this folder writes to. */
export const tables = ['server_reports', 'server_minutes'] as const;
