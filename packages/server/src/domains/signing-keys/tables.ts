/** The tables that only this folder writes to. */
export const tables = ['signing_keys'] as const;
