/** Tables that only this domain writes to. */
export const tables = ['data_models', 'branches', 'dev_modes'] as const;
