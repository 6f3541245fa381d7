/** Names of branches: those that git accepts, because every branch is exported as one of git's. */
import { randomBytes } from 'node:crypto';

const DEV_NAME_CHARACTERS_MAX = 40;

/** The name of the branch that a user gets for dev mode. */
export function devBranchName(username: string): string {
  const safe = username
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}_@+-]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '');
  return `dev-${[...safe].slice(0, DEV_NAME_CHARACTERS_MAX).join('') || 'user'}`;
}

/** The names to try, in this order: other users may have taken the first ones, and nobody can guess the last one. */
export function devBranchNames(username: string, userId: number): string[] {
  const name = devBranchName(username);
  return [name, `${name}-${userId}`, `${name}-${userId}-${randomBytes(4).toString('hex')}`];
}

/**
 * The names that a branch with this name excludes: git cannot have the branches `a` and `a/b`, because one would be a
 * file and a folder.
 */
export const namesAbove = (name: string): string[] =>
  name
    .split('/')
    .slice(0, -1)
    .map((_, i, parts) => parts.slice(0, i + 1).join('/'));
