/** PostgreSQL refuses to run as root: whom it runs as, and what that user can reach. */
import { spawnSync } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { StartupError } from '../../startup-error.ts';

export interface ProcessUser {
  name: string;
  /** Only where it is another user than ours. */
  ids: { uid: number; gid: number } | undefined;
}

export const isRoot = () => process.getuid?.() === 0;

export function ourName(): string {
  try {
    return userInfo().username;
  } catch {
    throw new StartupError(
      `The user id ${process.getuid?.()} has no name, which the embedded database needs: run Oriel as a user that exists, or set ORIEL_DATABASE_URL.`,
    );
  }
}

/** Ourselves, or `nobody` where we are root. */
export function databaseUser(): ProcessUser {
  if (!isRoot()) return { name: ourName(), ids: undefined };
  const id = (flag: string) =>
    Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout || Number.NaN);
  const ids = { uid: id('-u'), gid: id('-g') };
  if (Number.isNaN(ids.uid) || Number.isNaN(ids.gid)) {
    throw new StartupError(
      'The embedded database does not run as root, and there is no user `nobody` for it: run Oriel as another user, or set ORIEL_DATABASE_URL.',
    );
  }
  return { name: 'nobody', ids };
}

/** Whether the user can enter a folder or run a program. The kernel answers, not our reading of modes. */
export const canReach = (user: ProcessUser, path: string) =>
  spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], { ...user.ids }).status === 0;

export async function giveTo(user: ProcessUser, path: string) {
  if (user.ids) await chown(path, user.ids.uid, user.ids.gid);
}
