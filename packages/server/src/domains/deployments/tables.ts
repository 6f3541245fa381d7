/** What only this folder writes to. */
export const tables = ['deployments'] as const;
