/** Tables that only this domain writes to. */
export const tables = ['device_codes'] as const;
