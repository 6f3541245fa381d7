/** What only this folder writes to. */
export const tables = ['scim_users', 'scim_groups'] as const;
