import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { administer } from '../../../test/databases.ts';
import { startListening } from '../../../test/listening.ts';
import type { Listener } from './listener.ts';
import { createNotifiedCache } from './notified-cache.ts';

const CHANNEL = 'oriel_test_changes';
let listener: Listener;
beforeAll(async () => {
  listener = await startListening(inject('postgresUrl'), CHANNEL);
});
afterAll(() => listener.end());

const cacheOfUsers = () => createNotifiedCache<number, string>(listener, CHANNEL, (id) => [`user:${id}`]);
/** Resolves when all listeners have received it. */
async function notify(subject: string) {
  const heard = new Promise((resolve) =>
    listener.on(CHANNEL, (payload) => payload === subject && resolve(0)),
  );
  await administer(inject('postgresUrl'), `select pg_notify('${CHANNEL}', '${subject}')`);
  await heard;
}

test('a change drops the values that depend on its subject, and all values if it names no subject', async () => {
  const users = cacheOfUsers();
  const simple = createNotifiedCache<number, string>(listener, CHANNEL);
  const fill = async () => {
    for (const id of [1, 2]) {
      await users.load(id, async () => `user ${id}`);
      await simple.load(id, async () => `thing ${id}`);
    }
  };
  const known = () => [1, 2].map((id) => [users.get(id), simple.get(id)]);
  await fill();
  await notify('user:1');
  expect(known()).toEqual([
    [undefined, undefined],
    ['user 2', undefined],
  ]);
  await fill();
  await notify('');
  expect(known()).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ]);
});

test('calls for one key at the same time read once, even if the read fails', async () => {
  const users = cacheOfUsers();
  const read = vi.fn(async () => 'read');
  expect(await Promise.all([1, 2, 3].map(() => users.load(1, read)))).toEqual(['read', 'read', 'read']);
  expect(read).toHaveBeenCalledTimes(1);

  const fail = vi.fn(async () => Promise.reject(new Error('no')));
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => users.load(2, fail)));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(fail).toHaveBeenCalledTimes(1);
  expect(await users.load(2, read)).toBe('read');
});

test('a read that began before a change is neither kept nor shared after it', async () => {
  const users = cacheOfUsers();
  let answer = (_: string) => {};
  const early = users.load(1, () => new Promise((resolve) => (answer = resolve)));
  await notify('user:1');
  expect(await users.load(1, async () => 'new')).toBe('new');
  answer('old');
  expect(await early).toBe('old');
  expect(users.get(1)).toBe('new');
});

test('a full cache drops the oldest value, not everything', async () => {
  const users = cacheOfUsers();
  for (let id = 0; id <= 10_000; id++) await users.load(id, async () => 'kept');
  expect(users.get(0)).toBeUndefined();
  expect(users.get(1)).toBe('kept');
  expect(users.get(10_000)).toBe('kept');
});

test('a value that is used stays when thousands of others come', async () => {
  const users = cacheOfUsers();
  await users.load(0, async () => 'used all the time');
  await users.load(-1, async () => 'used once');
  for (let id = 1; id <= 10_000; id++) {
    await users.load(id, async () => `user ${id}`);
    users.get(0);
  }
  expect(users.get(0)).toBe('used all the time');
  expect(users.get(-1)).toBeUndefined();
});
