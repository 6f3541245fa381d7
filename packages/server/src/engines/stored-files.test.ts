/** The files of deployments in backups. */
import { appendFile, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, inject, test } from 'vitest';
import type { ArchiveWriter } from '../platform/db/backup/archive.ts';
import { createFileLoader, dumpFiles } from './stored-files.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = join(await mkdtemp(join(inject('runFolder'), 'stored-files-')), 'data');
});

test('files are written as they were, and only the engines can read them beside us', async () => {
  const created: string[] = [];
  const files = createFileLoader(dataDir, (path) => created.push(path));
  await files.take('7/a.csv', Buffer.from('id\n'));
  await files.take('7/a.csv', Buffer.from('1\n'));
  await files.take('8/empty.csv', Buffer.alloc(0));
  await files.finish(2);
  expect(created).toEqual([join(dataDir, 'files/7/a.csv'), join(dataDir, 'files/8/empty.csv')]);
  expect(await readFile(created[0]!, 'utf8')).toBe('id\n1\n');
  expect(await readFile(created[1]!, 'utf8')).toBe('');
  for (const path of created) expect((await stat(path)).mode & 0o777).toBe(0o640);
});

test('a file that is there already is not changed', async () => {
  const path = join(dataDir, 'files/7/a.csv');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'theirs');
  const created: string[] = [];
  const files = createFileLoader(dataDir, (made) => created.push(made));
  await expect(files.take('7/a.csv', Buffer.from('ours'))).rejects.toThrow(
    /^The file 7\/a\.csv cannot be restored: EEXIST/,
  );
  await files.close();
  expect(created).toEqual([]);
  expect(await readFile(path, 'utf8')).toBe('theirs');
});

const IMPOSSIBLE = ['../a.csv', '7/..', '7/.', '7', '7/', '07/a', '7/../../a', '7/a/b', '/a', '7/a\0b', ''];
test.each(IMPOSSIBLE)('the name %j is refused, because it could lead elsewhere', async (name) => {
  const files = createFileLoader(dataDir, () => {});
  await expect(files.take(name, Buffer.from('x'))).rejects.toThrow(/with an impossible name/);
  expect(await readdir(dirname(dataDir))).toEqual([]);
});

test('a file that changes while it is read cannot be backed up', async () => {
  const path = join(dataDir, 'files/7/a.csv');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'id\n');
  const parts: string[] = [];
  const archive = (beside: () => Promise<void>) =>
    ({
      part: async (_, data) => {
        parts.push(data.toString());
        await beside();
      },
    }) as ArchiveWriter;
  expect(
    await dumpFiles(
      dataDir,
      archive(async () => {}),
    ),
  ).toBe(1);
  expect(parts).toEqual(['id\n']);
  const changed = dumpFiles(
    dataDir,
    archive(() => (parts.length === 2 ? appendFile(path, '1\n') : Promise.resolve())),
  );
  await expect(changed).rejects.toThrow(/it was changed in the meantime/);
});
