/** The tables that only this folder writes to. */
export const tables = ['webhooks', 'webhook_secrets', 'webhook_deliveries'] as const;
