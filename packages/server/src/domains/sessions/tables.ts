/** Tables that only this domain writes to. */
export const tables = ['sessions', 'session_tokens'] as const;
