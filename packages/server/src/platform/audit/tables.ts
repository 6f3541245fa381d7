/** The tables that only this folder writes to. */
export const tables = ['audit_log', 'audit_log_chain', 'audit_log_months', 'audit_log_seals'] as const;
