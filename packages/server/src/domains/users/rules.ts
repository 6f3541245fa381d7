import { invalid } from '../../platform/errors.ts';

export const DEFAULT_ROLE = 'Viewer';
export const ADMIN_ROLE = 'Admin';

/** The roles of a new user: the roles that the request names, or Viewer if it names none. `isAdmin` adds Admin. */
export function rolesOfNewUser(asked: {
  roles?: string[] | null;
  defaultRoles?: string[] | null;
  isAdmin?: boolean | null;
}): string[] {
  const named = asked.roles ?? asked.defaultRoles ?? (asked.isAdmin ? [] : [DEFAULT_ROLE]);
  return [...new Set(asked.isAdmin ? [...named, ADMIN_ROLE] : named)];
}

/** The roles that a user has after an update, or undefined if the update does not change roles. */
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

/** Requests give notifications as a list of names. They are stored and shown as an object. */
export const wantedNotifications = (names: string[]): Record<string, true> =>
  Object.fromEntries(names.map((name) => [name, true]));

/** Returns the time in UTC. Refuses times that JavaScript or PostgreSQL does not know: leap seconds, the year 0. */
export function toTime(path: string, text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()) || time.getUTCFullYear() < 1 || time.getUTCFullYear() > 9999)
    throw invalid(path, 'must be a time from the year 1 to 9999');
  return time.toISOString();
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
const LATIN = /\p{Script=Latin}/u;
/** Letters of scripts other than Latin. East Asian names often have Latin letters too, and do not look like them. */
const OTHER_SCRIPT =
  /(?![\p{sc=Latin}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Common}\p{sc=Inherited}])\p{L}/u;

/**
 * Refuses names that people take for another name: with a character that nobody sees, or with Latin letters beside
 * letters of a script such as Cyrillic, which has letters that look the same.
 */
export function requireReadableUsername(username: string, field = 'username'): void {
  if (INVISIBLE.test(username)) throw invalid(field, 'must not have spaces or invisible characters');
  if (LATIN.test(username) && OTHER_SCRIPT.test(username))
    throw invalid(field, 'must not mix Latin letters with letters of another script');
}

/** A change without fields writes nothing: no entry in the audit log, and no new `updatedAt`. */
export const isEmpty = (body: object) => Object.keys(body).length === 0;
