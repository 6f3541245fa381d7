/** Makes sure that new names in a folder are still there after a power failure. */
import { open } from 'node:fs/promises';

/** Does what it can: a folder that may not be listed cannot be opened, and some network folders cannot be synced. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
