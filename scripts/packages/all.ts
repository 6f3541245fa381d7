/** Makes the tarballs that are published, and a file with their checksums, which `sha256sum --check` reads. */
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { packClient } from './client.ts';
import { packSdk } from './sdk.ts';
import { packServer } from './server.ts';

/** Empties the folder first, so that it holds one release. Returns the paths of the tarballs. */
export async function packAll(folder: string): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  const tarballs = [await packClient(folder), await packSdk(folder), await packServer(folder)];
  const lines = tarballs.map(async (path) => {
    const sum = createHash('sha256').update(await readFile(path));
    return `${sum.digest('hex')}  ${basename(path)}\n`;
  });
  await writeFile(join(folder, 'SHA256SUMS'), (await Promise.all(lines)).join(''));
  return tarballs;
}
