/** `npm run pack`: makes the tarballs of the version that is checked out, in `release`. */
import { join } from 'node:path';
import { root } from './install.mjs';
import { packAll } from './packages/all.ts';

for (const path of await packAll(join(root, 'release'))) console.log(path);
