/** Tables that only this domain writes to. */
export const tables = ['password_links'] as const;
