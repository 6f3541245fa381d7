import { invalid } from '../../platform/errors.ts';

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

/** In UTC. Times that only one of JavaScript and PostgreSQL knows, such as leap seconds and the year 0, are refused. */
export function toTime(path: string, text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()) || time.getUTCFullYear() < 1 || time.getUTCFullYear() > 9999)
    throw invalid(path, 'must be a time from the year 1 to 9999');
  return time.toISOString();
}
