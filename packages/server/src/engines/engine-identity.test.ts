/** The files that identify an engine: written again before they end, and gone with it. */
import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EngineIdentity, giveIdentity } from './engine-identity.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'oriel-identity-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const give = (identity: EngineIdentity) =>
  giveIdentity(identity, { dataDir, user: undefined, log: pino({ level: 'silent' }) });
const readAll = async (folder: string) =>
  Object.fromEntries(
    await Promise.all(
      (await readdir(folder)).map(async (name) => [name, await readFile(join(folder, name), 'utf8')]),
    ),
  );

test('files are renewed, also after a failure, and what is no longer given is removed', async () => {
  const given: (Map<string, string> | Error)[] = [
    new Map([
      ['a', 'first'],
      ['b', 'other'],
    ]),
    new Error('the database is away'),
    new Map([['a', 'second']]),
  ];
  const identity = {
    version: '',
    renewMs: 20,
    variablesIn: (folder: string) => ({ A_FILE: join(folder, 'a') }),
    makeFiles: async () => {
      const next = given.length > 1 ? given.shift()! : given[0]!;
      if (next instanceof Error) throw next;
      return next;
    },
  };
  const { folder, variables, end } = await give(identity);
  expect(variables).toEqual({ A_FILE: join(folder, 'a') });
  await expect.poll(() => readAll(folder)).toEqual({ a: 'second' });
  await end();
  await expect(readdir(join(dataDir, 'engine-identities'))).resolves.toEqual([]);
});

test('what a killed server left behind is removed, and what others use stays', async () => {
  const identity = {
    version: '',
    renewMs: 60_000,
    variablesIn: () => ({}),
    makeFiles: async () => new Map([['a', 'token']]),
  };
  const [left, used] = [await give(identity), await give(identity)];
  const yesterday = new Date(Date.now() - 24 * 3_600_000);
  await utimes(left.folder, yesterday, yesterday);
  const own = await give(identity);
  expect((await readdir(join(dataDir, 'engine-identities'))).sort()).toEqual(
    [own.folder, used.folder].map((folder) => folder.split('/').at(-1)!).sort(),
  );
  for (const { end } of [left, used, own]) await end();
});
