import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startListening } from '../../../test/listening.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import type { Listener } from '../../platform/db/listener.ts';
import { CREDENTIALS_CHANNEL, createNotifiedCache } from '../../platform/db/notified-cache.ts';
import { createBox } from '../../platform/secrets/box.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { createSigningKeys } from './index.ts';

let world: World;
let listener: Listener;
beforeAll(async () => {
  world = await createOwnWorld();
  listener = await startListening(world.databaseUrl, CREDENTIALS_CHANNEL);
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await listener.end();
  await world.stop();
});

const keyring = createKeyring([randomBytes(32).toString('hex')]);

/** The keys as another server would see them. */
const openKeys = () =>
  createSigningKeys({
    essential: world.server.db,
    createCache: (subjectsOf) => createNotifiedCache(listener, CREDENTIALS_CHANNEL, subjectsOf),
    box: (column) => createBox(column, keyring),
  });
const run = (text: string) => world.server.db.pool.query(text);
const age = (days: number) =>
  run(`update signing_keys set created_at = created_at - make_interval(days => ${days})`);
const storedIds = async () =>
  (await run('select id from signing_keys order by created_at desc')).rows.map(({ id }) => id);

beforeEach(() => run('delete from signing_keys'));

test('servers that need a key when there is none create one, and each server finds the keys of the others', async () => {
  const servers = [openKeys(), openKeys(), openKeys()];
  const made = await Promise.all(servers.map((keys) => keys.current()));
  expect(await storedIds()).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
  for (const keys of servers) {
    for (const { id } of made) await expect.poll(async () => (await keys.find(id))?.id).toBe(id);
  }
  const before = await storedIds();
  await openKeys().current();
  expect(await storedIds()).toEqual(before);
});

test('an old key is replaced, and deleted when all tokens that it signed have expired', async () => {
  const keys = openKeys();
  const { id: old } = await keys.current();
  await keys.rotate();
  expect(await storedIds()).toEqual([old]);
  await age(31);
  await keys.rotate();
  const [young] = await storedIds();
  expect(await storedIds()).toEqual([young, old]);
  await age(1);
  await keys.rotate();
  expect(await storedIds()).toEqual([young, old]);
  await age(2);
  await keys.rotate();
  expect(await storedIds()).toEqual([young]);
});

test('the server looks for unknown keys at most once a second', async () => {
  const { db } = world.server;
  const keys = openKeys();
  const { id } = await keys.current();
  const readsDuring = async (work: () => Promise<unknown>) =>
    (await statementsDuring(db, work)).filter(({ text }) => text.includes('signing_keys')).length;
  await expect.poll(() => readsDuring(() => keys.current())).toBe(0);

  let now = 5000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const guess = () => keys.find(randomBytes(32).toString('base64url'));
  const guesses = () =>
    readsDuring(async () => {
      for (let i = 0; i < 20; i++) expect(await guess()).toBeUndefined();
    });
  const known = () => readsDuring(async () => expect((await keys.find(id))?.id).toBe(id));
  const aSecondLater = async () => {
    now += 1000;
    return [await guesses(), await guesses(), await known()];
  };
  // A late notification about the keys of another test causes one more read.
  await expect.poll(aSecondLater).toEqual([1, 0, 0]);
});
