import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';
import { CREDENTIALS_CHANNEL } from '../../platform/auth/authenticate.ts';
import { type Listener, startListener } from '../../platform/db/listener.ts';
import { createNotifiedCache } from '../../platform/db/notified-cache.ts';
import { createTenantSettings } from './settings.ts';

let world: World;
let listener: Listener;
beforeAll(async () => {
  world = await createWorld();
  const log = pino({ level: 'silent' });
  listener = await startListener({ connectionString: world.databaseUrl }, [CREDENTIALS_CHANNEL], log);
});
afterAll(async () => {
  await listener.end();
  await world.stop();
});

test('what a server remembers of the settings follows each change', async () => {
  const settings = createTenantSettings(world.server.db, createNotifiedCache(listener, CREDENTIALS_CHANNEL));
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
