import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startListening } from '../../../test/listening.ts';
import { createWorld, type World } from '../../../test/world.ts';
import type { Listener } from '../db/listener.ts';
import { createNotifiedCache } from '../db/notified-cache.ts';
import * as secrets from '../secrets.ts';
import { CREDENTIALS_CHANNEL } from './authenticate.ts';
import { createSigningKeys, rotateSigningKeys } from './signing-keys.ts';

let world: World;
let listener: Listener;
beforeAll(async () => {
  world = await createWorld();
  listener = await startListening(world.databaseUrl, CREDENTIALS_CHANNEL);
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await listener.end();
  await world.stop();
});

test('keys that do not exist are looked for once a second at the most', async () => {
  const { db } = world.server;
  await db.pool.query('delete from signing_keys');
  const secret = secrets.deriveKey(randomBytes(32).toString('hex'), 'test');
  await rotateSigningKeys(db, secret);
  const cache = createNotifiedCache<string, never>(listener, CREDENTIALS_CHANNEL);
  const keys = createSigningKeys(db, cache, secret);
  const { id } = await keys.current();
  await expect.poll(async () => (await keys.current()) && cache.get('ring')).toBeDefined();

  let now = 5000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const query = vi.spyOn(db.pool, 'query');
  const reads = () => query.mock.calls.filter(([text]) => /signing_keys/.test(JSON.stringify(text))).length;
  const guess = () => keys.find(randomBytes(32).toString('base64url'));
  for (let i = 0; i < 20; i++) expect(await guess()).toBeUndefined();
  expect(reads()).toBe(1);
  now += 1000;
  for (let i = 0; i < 20; i++) expect(await guess()).toBeUndefined();
  expect(reads()).toBe(2);
  expect((await keys.find(id))?.id).toBe(id);
  expect(reads()).toBe(2);
});
