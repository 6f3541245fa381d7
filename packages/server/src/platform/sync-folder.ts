/** Makes sure that new names in a folder are still there after a power failure. */
import { open } from 'node:fs/promises';

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    // Some network folders can not do it.
    await folder.sync().catch(() => {});
  } finally {
    await folder.close();
  }
}
