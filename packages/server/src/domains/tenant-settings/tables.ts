/** What only this folder writes to. */
export const tables = ['tenant_settings'] as const;
