/** What only this folder writes to. */
export const tables = ['server_processes'] as const;
