/** Tables that only this domain writes to. */
export const tables = ['deployments'] as const;
