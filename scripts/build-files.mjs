/** What the builds share: they notice whether anything has changed, and write files that a server may be reading. */
import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './install.mjs';

/** Writes a file atomically, because a server or an engine that starts may read it. */
export async function place(folder, name, content) {
  const unfinished = join(folder, `${name}.${process.pid}.tmp`);
  await writeFile(unfinished, content);
  await rename(unfinished, join(folder, name));
}

/** Of the names and the contents of files. */
export async function hashFiles(paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${path.slice(root.length)}\0`).update(await readFile(path));
  return hash.digest('hex');
}
