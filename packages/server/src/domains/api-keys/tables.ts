/** Tables that only this domain writes to. */
export const tables = ['api_keys'] as const;
