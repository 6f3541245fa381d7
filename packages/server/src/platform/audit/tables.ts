/** The tables that only this folder writes to. */
export const tables = ['audit_log'] as const;
