/** The tables that only this folder writes to. */
export const tables = ['schema_functions', 'schema_migrations', 'write_probes'] as const;
