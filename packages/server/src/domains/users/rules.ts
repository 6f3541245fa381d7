export const DEFAULT_ROLE = 'Viewer';
export const ADMIN_ROLE = 'Admin';

/** The roles of a new user: what was asked for, a viewer's where nothing was, and an admin's on top. */
export function rolesOfNewUser(asked: {
  roles?: string[] | null;
  defaultRoles?: string[] | null;
  isAdmin?: boolean | null;
}): string[] {
  const named = asked.roles ?? asked.defaultRoles ?? (asked.isAdmin ? [] : [DEFAULT_ROLE]);
  return [...new Set(asked.isAdmin ? [...named, ADMIN_ROLE] : named)];
}
