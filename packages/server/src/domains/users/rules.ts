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

/** The roles that an update leaves a user with, or undefined where it says nothing about them. */
export function rolesOfChangedUser(
  current: string[],
  asked: { roles?: string[] | null; isAdmin?: boolean | null },
): string[] | undefined {
  if (asked.roles == null && asked.isAdmin == null) return undefined;
  const named = asked.roles ?? current;
  if (asked.isAdmin == null) return [...new Set(named)];
  const others = named.filter((name) => name !== ADMIN_ROLE);
  return [...new Set(asked.isAdmin ? [...others, ADMIN_ROLE] : others)];
}

/** Notifications are asked for as a list of names, and kept and shown as an object. */
export const wantedNotifications = (names: string[]): Record<string, true> =>
  Object.fromEntries(names.map((name) => [name, true]));
