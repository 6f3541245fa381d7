/** Lists everything that the files in `packages/contract/src/operations` define, so that nobody has to edit the list. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { collectFiles, type OperationFile } from '../packages/contract/src/catalogue.ts';

export const OPERATIONS_FILE = 'packages/contract/src/operations.gen.ts';

const FOLDER = 'packages/contract/src/operations';

export async function operationsFile(root: string): Promise<string> {
  const names = (await readdir(join(root, FOLDER))).filter((name) => /^[\w-]+\.ts$/.test(name)).sort();
  const files: Record<string, OperationFile> = {};
  for (const name of names) files[name] = await import(pathToFileURL(join(root, FOLDER, name)).href);
  const { operations, tags, errors } = collectFiles(files);

  const list = (entries: Map<string, string>) =>
    [...entries].map(([id, file]) => `  ${id}: ${camelCase(file)}.${id},`).sort();
  const spread = (entries: Map<string, string>, what: string) =>
    [...new Set(entries.values())].sort().map((file) => `  ...${camelCase(file)}.${what},`);
  return [
    '// Made by `npm run generate` from the files in `operations`.',
    ...names.map((name) => `import * as ${camelCase(name)} from './operations/${name}';`),
    '',
    'export const operations = {',
    ...list(operations),
    '};',
    '',
    'export const tags = {',
    ...spread(tags, 'tags'),
    '};',
    '',
    'export const errors = {',
    ...spread(errors, 'errors'),
    '};',
    '',
  ].join('\n');
}

const camelCase = (file: string) =>
  file.replace(/\.ts$/, '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
