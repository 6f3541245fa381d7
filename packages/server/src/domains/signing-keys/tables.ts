/** The tables that only this folder writes to. */
export const tables = ['signing_keys', 'workload_keys'] as const;
