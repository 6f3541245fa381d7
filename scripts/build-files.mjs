/** What the builds share: they notice whether anything has changed, and write files that a server may be reading. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { root } from './install.mjs';

/** Writes a file atomically, because a server or an engine that starts may read it. */
export async function place(folder, name, content) {
  const unfinished = join(folder, `${name}.${process.pid}.tmp`);
  await writeFile(unfinished, content);
  await rename(unfinished, join(folder, name));
}

/**
 * Writes the files of pages for browsers, each also compressed, and their manifest, whose `files` are all names. Files that
 * it does not name are removed.
 */
export async function placePages(folder, outputFiles, manifest) {
  await mkdir(folder, { recursive: true });
  await Promise.all(outputFiles.map(({ path, contents }) => placeEncoded(folder, basename(path), contents)));
  // Comes last, when every file that it names is there.
  await place(folder, 'manifest.json', JSON.stringify(manifest, null, 2));
  for (const file of await readdir(folder)) {
    const named = file.replace(/\.(br|gz)$/, '');
    if (![...manifest.files, 'manifest.json'].includes(named) && !file.endsWith('.tmp')) {
      await rm(join(folder, file), { force: true });
    }
  }
}

/** The server sends the files as they are here, so they are compressed as well as possible. */
async function placeEncoded(folder, name, contents) {
  await place(folder, name, contents);
  await place(folder, `${name}.br`, await promisify(brotliCompress)(contents));
  await place(folder, `${name}.gz`, await promisify(gzip)(contents, { level: constants.Z_BEST_COMPRESSION }));
}

/** Hashes the names and contents of all files below these folders, without tests, and of the other files. */
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
