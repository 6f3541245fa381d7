/** What only this folder writes to. */
export const tables = ['api_keys'] as const;
