import { afterEach, expect, test, vi } from 'vitest';
import { createBudget } from './body-reader.ts';
import { store } from './uploads.ts';

afterEach(() => vi.unstubAllEnvs());

async function* data(bytes: number) {
  yield Buffer.alloc(bytes);
}

const MB = 1024 * 1024;
const options = {
  fileName: 'a',
  contentType: 'text/plain',
  maxBytes: 4 * MB,
  tooLarge: () => new Error('large'),
};

test('a file that can not be stored gives its share of the disk back', async () => {
  // One sharer has a quarter of the budget, which is room for one file.
  const budget = createBudget(4 * MB);
  const storeOne = async () => store(data(MB), { ...options, share: budget.shareOf('one') });
  vi.stubEnv('TMPDIR', '/there/is/no/such/folder');
  for (let i = 0; i < 3; i++) await expect(storeOne()).rejects.toMatchObject({ code: 'ENOENT' });
  vi.unstubAllEnvs();
  const stored = await storeOne();
  await expect(storeOne()).rejects.toMatchObject({ code: 'unavailable' });
  await stored.close();
  await (await storeOne()).close();
});
