/** Tables that only this domain writes to. */
export const tables = ['environment_tokens'] as const;
