/** Writes the files that are made from the contract, or with --check tells which of them are out of date. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatedFiles } from './generated-files.ts';

const root = join(import.meta.dirname, '..');
const stale: string[] = [];
for (const [file, text] of Object.entries(await generatedFiles())) {
  const current = await readFile(join(root, file), 'utf8').catch(() => undefined);
  if (current === text) continue;
  stale.push(file);
  if (!process.argv.includes('--check')) await writeFile(join(root, file), text);
}
if (!process.argv.includes('--check'))
  console.log(stale.length ? `wrote ${stale.join(', ')}` : 'all up to date');
else if (stale.length) {
  console.error(`out of date: ${stale.join(', ')} (run \`npm run generate\`)`);
  process.exit(1);
}
