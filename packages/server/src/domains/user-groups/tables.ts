/** Tables that only this domain writes to. */
export const tables = ['user_group_members', 'user_groups'] as const;
