import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedFiles } from '../../../scripts/generated-files.ts';
import { OPERATIONS_FILE, operationsFile } from '../../../scripts/operations-file.ts';

const root = join(import.meta.dirname, '../../..');
const files = { ...generatedFiles(), [OPERATIONS_FILE]: await operationsFile(root) };

test.each(Object.entries(files))('%s is what `npm run generate` writes', async (file, text) => {
  expect(await readFile(join(root, file), 'utf8')).toBe(text);
});
