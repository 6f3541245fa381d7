/** Tables that only this domain writes to. */
export const tables = ['env_variables'] as const;
