/** What only this folder writes to. */
export const tables = ['folders', 'removed_folders'] as const;
