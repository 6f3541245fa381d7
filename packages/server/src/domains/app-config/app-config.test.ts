import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const query = async (text: string) => (await world.server.db.pool.query(text)).rows;
beforeEach(() => query("update tenant_settings set embedding = '{}'"));

const DEFAULTS = { locale: null, showDashboardChat: true, timezone: null };
const CHANGED = { locale: 'de-AT', showDashboardChat: false, timezone: 'Europe/Vienna' };
const config = () => world.admin.getAppConfig();
const change = (embedding: object) => world.admin.updateAppConfig({ body: { embedding } });

test('embedded pages start from defaults', async () => {
  expect(await config()).toEqual({ applyThemeGlobally: false, embedding: DEFAULTS });
});

test('each field can be changed alone, and null goes back to its default', async () => {
  let expected: object = DEFAULTS;
  const expectAfter = async (name: string, value: unknown, shown: unknown) => {
    expected = { ...expected, [name]: shown };
    expect((await change({ [name]: value })).embedding).toEqual(expected);
    expect((await config()).embedding).toEqual(expected);
  };
  for (const [name, value] of Object.entries(CHANGED)) await expectAfter(name, value, value);
  expect((await change({})).embedding).toEqual(CHANGED);
  for (const [name, value] of Object.entries(DEFAULTS)) await expectAfter(name, null, value);
});

test('settings of the account and app configuration leave each other alone', async () => {
  const { useCreatorMode } = await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  await change(CHANGED);
  expect((await world.admin.getTenantSettings()).useCreatorMode).toBe(useCreatorMode);
  await world.admin.updateTenantSettings({ body: { useCreatorMode: false } });
  expect((await config()).embedding).toEqual(CHANGED);
});

test('parallel changes of different fields all count', async () => {
  await Promise.all(Object.entries(CHANGED).map(([name, value]) => change({ [name]: value })));
  expect((await config()).embedding).toEqual(CHANGED);
});

test('a language tag is kept as it is properly written', async () => {
  expect((await change({ locale: 'ZH-hans-cn' })).embedding).toMatchObject({ locale: 'zh-Hans-CN' });
});

test.each<[string, object]>([
  ['locale', { locale: '' }],
  ['locale', { locale: 'de_AT' }],
  ['locale', { locale: 'a language' }],
  ['locale', { locale: 3 }],
  ['locale', { locale: 'x'.repeat(101) }],
  ['timezone', { timezone: '' }],
  ['timezone', { timezone: '+01:00' }],
  ['timezone', { timezone: '-08' }],
  ['timezone', { timezone: 'UTC+1' }],
  ['timezone', { timezone: 'PST' }],
  ['timezone', { timezone: 'Mars/Phobos' }],
  ['timezone', { timezone: ' UTC' }],
  ['timezone', { timezone: 60 }],
  ['timezone', { timezone: 'x'.repeat(101) }],
  ['showDashboardChat', { showDashboardChat: 'true' }],
  ['theme', { theme: {} }],
])('bad input changes nothing: %s in %j', async (name, embedding) => {
  await change(CHANGED);
  await expect(change({ showDashboardChat: true, locale: 'fr', ...embedding })).rejects.toMatchObject({
    status: 400,
    code: 'invalid_request',
    issues: [{ path: `embedding.${name}` }],
  });
  expect((await config()).embedding).toEqual(CHANGED);
});

test.each<[string, object]>([
  ['nothing', {}],
  ['null', { embedding: null }],
  ['a list', { embedding: [] }],
  ['a theme', { embedding: {}, applyThemeGlobally: true }],
])('a body with %s is refused', async (_, body) => {
  await expect(world.admin.updateAppConfig({ body: body as never })).rejects.toMatchObject({
    status: 400,
    code: 'invalid_request',
  });
});

test.each(['UTC', 'GMT', 'CET', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'Japan'])(
  '%s is a time zone',
  async (timezone) => {
    expect((await change({ timezone })).embedding).toMatchObject({ timezone });
  },
);

test('everybody reads it, and only admins write it, into the audit log', async () => {
  const { client } = await world.person({ roles: [] });
  await change(CHANGED);
  expect(await client.getAppConfig()).toEqual(await config());
  await expect(client.updateAppConfig({ body: { embedding: {} } })).rejects.toMatchObject({ status: 403 });
  const entries = await query(
    "select before, after from audit_log where resource_type = 'appConfig' order by id desc limit 1",
  );
  expect(entries).toEqual([{ before: { embedding: {} }, after: { embedding: CHANGED } }]);
});
