/** Tables that only this domain writes to. */
export const tables = ['folders', 'removed_folders'] as const;
