/** Writes the files that are made from the contract. A test fails while they are out of date. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './install.mjs';
import { OPERATIONS_FILE, operationsFile } from './operations-file.ts';

const stale: string[] = [];

async function write(file: string, text: string) {
  const current = await readFile(join(root, file), 'utf8').catch(() => undefined);
  if (current === text) return;
  stale.push(file);
  await writeFile(join(root, file), text);
}

// This file must be written before anything that imports it, because the other files are made from all operations.
await write(OPERATIONS_FILE, await operationsFile(root));
const { generatedFiles } = await import('./generated-files.ts');
for (const [file, text] of Object.entries(generatedFiles())) await write(file, text);
console.log(stale.length ? `wrote ${stale.join(', ')}` : 'all up to date');
