import { afterAll, beforeAll, expect, test } from 'vitest';
import { startListening } from '../../../test/listening.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import type { Listener } from '../../platform/db/listener.ts';
import { CREDENTIALS_CHANNEL, createNotifiedCache } from '../../platform/db/notified-cache.ts';
import { createTenantSettings } from './settings.ts';

let world: World;
let listener: Listener;
beforeAll(async () => {
  world = await createOwnWorld();
  listener = await startListening(world.databaseUrl, CREDENTIALS_CHANNEL);
});
afterAll(async () => {
  await listener.end();
  await world.stop();
});

test('the settings in the memory of a server are updated after each change', async () => {
  const settings = createTenantSettings({
    essential: world.server.db,
    createCache: (subjectsOf) => createNotifiedCache(listener, CREDENTIALS_CHANNEL, subjectsOf),
  });
  const remembered = async () => {
    const { useCreatorMode, embedding } = await settings.current();
    return { useCreatorMode, embedding };
  };
  expect(await remembered()).toEqual({ useCreatorMode: false, embedding: {} });
  expect(settings.current()).not.toBeInstanceOf(Promise);

  await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  await expect.poll(remembered).toEqual({ useCreatorMode: true, embedding: {} });
  await world.admin.updateAppConfig({ body: { embedding: { locale: 'fr' } } });
  await expect.poll(remembered).toEqual({ useCreatorMode: true, embedding: { locale: 'fr' } });
});
