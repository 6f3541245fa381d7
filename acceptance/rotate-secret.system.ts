/** A generated secret key is replaced as docs/operating.md describes. */
import { readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  ADMIN_KEY,
  cleanUp,
  MAIN,
  openDatabase,
  spawnServer,
  startServer,
  stop,
  usedDataDir,
} from './server-process.ts';

afterAll(cleanUp);

async function rotateSecret(dataDir: string) {
  const run = spawnServer(dataDir, {}, [process.execPath, MAIN, 'rotate-secret']);
  const { code } = await run.ended;
  return { code, stdout: run.stdout, stderr: run.stderr };
}

test('a generated secret key is replaced while the server runs', async () => {
  const dataDir = await usedDataDir();
  const file = join(dataDir, 'secret.key');
  const keyIds = async ({ url }: { url: string }) =>
    ((await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }).keys.map(
      ({ kid }) => kid,
    );
  const first = await startServer(dataDir);
  const before = await keyIds(first);
  expect(before).not.toEqual([]);
  await stop(first);
  await rename(file, `${file}.previous`);

  // There is no new key yet.
  const tooEarly = await rotateSecret(dataDir);
  expect(tooEarly).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no secret in .*start Oriel once/),
  });

  const second = await startServer(dataDir);
  expect(readFileSync(file, 'utf8')).not.toBe(readFileSync(`${file}.previous`, 'utf8'));
  expect(await keyIds(second)).toEqual(before);
  expect(await rotateSecret(dataDir)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Values that were sealed again: 1.'),
    stderr: '',
  });
  await expect(second.client(ADMIN_KEY).getMe()).resolves.toBeDefined();
  await stop(second);
  await rm(`${file}.previous`);

  const third = await startServer(dataDir);
  expect(await keyIds(third)).toEqual(before);
  const database = await openDatabase(dataDir);
  const { rows } = await database.query(
    "select substring(private_key from 1 for 3) = 'box' as sealed from signing_keys",
  );
  await database.end();
  expect(rows).toEqual([{ sealed: true }]);
});
