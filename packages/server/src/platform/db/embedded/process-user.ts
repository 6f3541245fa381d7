/** The user that PostgreSQL runs as. It refuses to run as root, and needs a user with a name. */
import { userInfo } from 'node:os';
import { isRoot, nobody, type ProcessUser } from '../../processes/process-user.ts';
import { StartupError } from '../../startup-error.ts';

export function ourName(): string {
  try {
    return userInfo().username;
  } catch {
    throw new StartupError(
      `The user id ${process.getuid?.()} has no name, which the embedded database needs: run Oriel as a user that exists, or set ORIEL_DATABASE_URL.`,
    );
  }
}

/** Returns our own user, or `nobody` if we are root. */
export function databaseUser(): ProcessUser {
  if (!isRoot()) return { name: ourName(), ids: undefined };
  const user = nobody();
  if (!user) {
    throw new StartupError(
      'The embedded database does not run as root, and there is no user `nobody` for it: run Oriel as another user, or set ORIEL_DATABASE_URL.',
    );
  }
  return user;
}
