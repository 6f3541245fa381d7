/** What the builds share: they notice whether anything has changed, and write files that a server may be reading. */
import { createHash } from 'node:crypto';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './install.mjs';

/** Writes a file atomically, because a server or an engine that starts may read it. */
export async function place(folder, name, content) {
  const unfinished = join(folder, `${name}.${process.pid}.tmp`);
  await writeFile(unfinished, content);
  await rename(unfinished, join(folder, name));
}

/** Of the names and the contents of all files below some folders of the project, without tests, and of other files of it. */
export async function hashInputs(folders, others) {
  const found = await Promise.all(folders.map((folder) => filesBelow(join(root, folder))));
  const paths = [...found.flat().sort(), ...others.map((file) => join(root, file))];
  const hash = createHash('sha256');
  for (const path of paths) hash.update(`${path.slice(root.length)}\0`).update(await readFile(path));
  return hash.digest('hex');
}

async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !/\.(test|system|check)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
