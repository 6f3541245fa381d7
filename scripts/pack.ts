/** `npm run pack`: makes the tarballs that are published, in `release`, with their checksums. */
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { packServer } from './packages/server.ts';
import { root } from './packages/tarball.ts';

const release = join(root, 'release');
await rm(release, { recursive: true, force: true });
const tarballs = [await packServer(release)];
const sums = await Promise.all(
  tarballs.map(async (path) => {
    const sum = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    return `${sum}  ${basename(path)}\n`;
  }),
);
await writeFile(join(release, 'SHA256SUMS'), sums.join(''));
for (const path of tarballs) console.log(path);
