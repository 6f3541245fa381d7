/** What only this folder writes to. */
export const tables = ['user_group_members', 'user_groups'] as const;
