import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedFiles } from '../../../scripts/generated-files.ts';

const root = join(import.meta.dirname, '../../..');

test.each(Object.entries(generatedFiles()))('%s is what `npm run generate` writes', async (file, text) => {
  expect(await readFile(join(root, file), 'utf8')).toBe(text);
});
