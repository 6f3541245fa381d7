/** The user that a child process runs as, and what that user can reach. */
import { spawnSync } from 'node:child_process';
import { chown } from 'node:fs/promises';

export interface ProcessUser {
  name: string;
  /** Set only if it is not our own user. */
  ids: { uid: number; gid: number } | undefined;
}

export const isRoot = () => process.getuid?.() === 0;

let idsOfNobody: { uid: number; gid: number } | undefined;

/** The user `nobody`, if this machine has one. Only root can run something as `nobody`. */
export function nobody(): ProcessUser | undefined {
  const id = (flag: string) =>
    Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout || Number.NaN);
  const ids = idsOfNobody ?? { uid: id('-u'), gid: id('-g') };
  // Not remembered: `id` may have failed for lack of memory or file descriptors.
  if (Number.isNaN(ids.uid) || Number.isNaN(ids.gid)) return undefined;
  idsOfNobody = ids;
  return { name: 'nobody', ids };
}

export const OURSELVES: ProcessUser = { name: 'our own user', ids: undefined };

/** Our own user, or `nobody` if we are root. Undefined if we are root and there is no `nobody`. */
export const userWithoutRights = (): ProcessUser | undefined => (isRoot() ? nobody() : OURSELVES);

/**
 * Whether the user can enter a folder or run a program. This asks the kernel, which is safer than reading file modes.
 */
export const canReach = (user: ProcessUser, path: string) =>
  spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], { ...user.ids }).status === 0;

/** Whether the user can read all of these files. */
export const canRead = (user: ProcessUser, files: readonly string[]) =>
  spawnSync('/bin/sh', ['-c', 'for file; do test -r "$file" || exit 1; done', 'sh', ...files], {
    ...user.ids,
    cwd: '/',
  }).status === 0;

export async function giveTo(user: ProcessUser, path: string) {
  if (user.ids) await chown(path, user.ids.uid, user.ids.gid);
}
