/** Tables that only this domain writes to. */
export const tables = ['tenant_settings'] as const;
