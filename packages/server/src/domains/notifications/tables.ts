/** The tables that only this folder writes to. */
export const tables = [
  'notifications',
  'notification_recipients',
  'notification_runs',
  'notification_deliveries',
  'notification_conditions',
] as const;
