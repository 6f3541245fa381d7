/** The tables that only this folder writes to. */
export const tables = ['external_user_count', 'sign_in_names', 'user_roles', 'users'] as const;
