/** Writes the files that are made from the contract. A test tells when they are out of date. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatedFiles } from './generated-files.ts';

const root = join(import.meta.dirname, '..');
const stale: string[] = [];
for (const [file, text] of Object.entries(generatedFiles())) {
  const current = await readFile(join(root, file), 'utf8').catch(() => undefined);
  if (current === text) continue;
  stale.push(file);
  await writeFile(join(root, file), text);
}
console.log(stale.length ? `wrote ${stale.join(', ')}` : 'all up to date');
