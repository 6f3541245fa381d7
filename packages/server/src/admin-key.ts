/** `npm run admin-key`: makes another API key for an admin who lost theirs. It runs on the machine of the server. */
import { besideServer } from './beside-server.ts';
import { readArgs } from './commands.ts';
import type { Config } from './config.ts';
import { addAdminKey } from './domains/installation/index.ts';

export async function makeAdminKey(
  config: Config,
  args: string[],
  /** Called just before the key is stored. */
  show: (username: string, apiKey: string) => void,
): Promise<void> {
  const { user } = readArgs('admin-key', args).values;
  await besideServer(config, ({ db }) => addAdminKey(db, { user, show }));
}
