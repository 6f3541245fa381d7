import { afterAll, beforeAll, expect, test } from 'vitest';
import { startListening } from '../../../test/listening.ts';
import { createWorld, type World } from '../../../test/world.ts';
import type { PresentedCredential } from '../../platform/auth/credentials.ts';
import type { Listener } from '../../platform/db/listener.ts';
import { CREDENTIALS_CHANNEL, createNotifiedCache } from '../../platform/db/notified-cache.ts';
import { updateLastUsed } from './credential.store.ts';
import { createApiKeyCredential } from './credential.ts';

let world: World;
let listener: Listener;
beforeAll(async () => {
  world = await createWorld();
  listener = await startListening(world.databaseUrl, CREDENTIALS_CHANNEL);
});
afterAll(async () => {
  await listener.end();
  await world.stop();
});

const open = () =>
  createApiKeyCredential({
    essential: world.server.db,
    createCache: (subjectsOf) => createNotifiedCache(listener, CREDENTIALS_CHANNEL, subjectsOf),
    log: { warn: () => {} } as never,
  });
const given = (secret: string): PresentedCredential => ({
  scheme: 'api-key',
  secret,
  method: 'GET',
  headers: {},
  address: '127.0.0.1',
});

test('verifying a key that is in memory returns its person at once, without a promise', async () => {
  const { apiKey, apiKeyId, userId } = await world.person({ roles: ['Viewer'] });
  const { kind, stop } = open();
  // A notification from another test may arrive while the key is read, and then the key is not kept in memory.
  await expect
    .poll(async () => {
      await kind.verify(given(apiKey));
      return kind.verify(given(apiKey)) instanceof Promise;
    })
    .toBe(false);
  expect(kind.verify(given(apiKey))).toMatchObject({ kind: 'person', userId, apiKeyId, deploymentIds: null });
  await stop();
  const { lastUsedAt } = await world.admin.getApiKey({ id: apiKeyId });
  expect(lastUsedAt).not.toBeNull();
});

test('a use is noted for its own key, and an older one changes nothing', async () => {
  const [used, other] = [await world.person(), await world.person()];
  const lastUsed = async ({ apiKeyId: id }: typeof used) => (await world.admin.getApiKey({ id })).lastUsedAt;
  const note = (at: string) => updateLastUsed(world.server.db, [{ id: used.apiKeyId, at }]);
  await note('2031-01-02T00:00:00.000Z');
  await note('2031-01-01T00:00:00.000Z');
  expect(await lastUsed(used)).toMatch(/^2031-01-02T00:00:00/);
  expect(await lastUsed(other)).toBeNull();
});

test('what looks like a key and is none is told so, and only where a key was meant', async () => {
  const { kind, stop } = open();
  const whyNot = (scheme: 'api-key' | 'bearer', secret: string) => kind.whyNot!({ ...given(secret), scheme });
  expect(whyNot('bearer', 'sk-x')).toContain('This is not an API key.');
  expect(whyNot('api-key', 'abc')).toContain('does not begin with');
  expect(whyNot('bearer', 'abc')).toBeUndefined();
  await stop();
});

test('a key that is unknown is refused', async () => {
  const { kind, stop } = open();
  await expect(kind.verify(given('sk-was-never-made'))).rejects.toMatchObject({ code: 'unauthenticated' });
  await stop();
});
