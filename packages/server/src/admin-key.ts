/** `npm run admin-key`: makes another API key for an admin who lost theirs. It runs on the machine of the server. */
import { parseArgs } from 'node:util';
import { besideServer } from './beside-server.ts';
import type { Config } from './config.ts';
import { addAdminKey } from './domains/installation/index.ts';
import { StartupError } from './platform/startup-error.ts';

const USAGE = 'Usage: npm run admin-key [-- --user <username or email of an admin>]';

export async function makeAdminKey(
  config: Config,
  args: string[],
  /** Called just before the key is stored. */
  show: (username: string, apiKey: string) => void,
): Promise<void> {
  const user = readUser(args);
  await besideServer(config, ({ db }) => addAdminKey(db, { user, show }));
}

function readUser(args: string[]): string | undefined {
  try {
    return parseArgs({ args, options: { user: { type: 'string' } } }).values.user;
  } catch {
    throw new StartupError(USAGE);
  }
}
