import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const query = async (text: string) => (await world.server.db.pool.query(text)).rows;
beforeEach(() => query("update tenant_settings set embedding = '{}', app_config = '{}'"));

const DEFAULTS = { locale: null, showDashboardChat: true, timezone: null };
const CHANGED = { locale: 'de-AT', showDashboardChat: false, timezone: 'Europe/Vienna' };
const config = () => world.admin.getAppConfig();
const change = (embedding: object) => world.admin.updateAppConfig({ body: { embedding } });

const ALL_DEFAULTS = {
  appTheme: null,
  applyThemeGlobally: false,
  creatorMode: {
    workspaceTitle: null,
    localizedTitles: null,
    showWorkspaceTitle: null,
    showGeneratedSql: null,
    showSemanticSql: null,
  },
  embedding: DEFAULTS,
  sheetsUi: { showAppliedFilters: null },
  timezoneSettings: { enabled: null, timezone: null, allowUserOverride: null },
};

const scheme = {
  accentColor: '#36f',
  backgroundColor: 'white',
  foregroundColor: '#111111',
  contrast: 4.5,
  logoUrl: 'HTTPS://app.example.com/logo.svg',
};
const font = {
  id: 'inter',
  name: 'Inter',
  family: null,
  format: 'woff2',
  url: 'https://example.com/i.woff2',
};
const appTheme = {
  light: scheme,
  dark: { ...scheme, backgroundColor: 'black', logoUrl: '' },
  typography: {
    body: { fontRef: 'inter', fontWeight: 400 },
    heading: { fontRef: 'inter', fontWeight: 700 },
    fonts: [font],
  },
};
const ALL_CHANGED = {
  appTheme,
  applyThemeGlobally: true,
  creatorMode: {
    workspaceTitle: 'Studio',
    localizedTitles: [{ locale: 'de-AT', value: 'Werkstatt' }],
    showWorkspaceTitle: true,
    showGeneratedSql: false,
    showSemanticSql: true,
  },
  embedding: CHANGED,
  sheetsUi: { showAppliedFilters: false },
  timezoneSettings: { enabled: true, timezone: 'Asia/Tokyo', allowUserOverride: false },
};
const update = (body: object) => world.admin.updateAppConfig({ body });

test('a new account has the defaults', async () => {
  expect(await config()).toEqual(ALL_DEFAULTS);
});

test('all sections can be changed at once, and each can be set back to its defaults', async () => {
  expect(await update(ALL_CHANGED)).toEqual(ALL_CHANGED);
  expect(await update({})).toEqual(ALL_CHANGED);
  expect(await config()).toEqual(ALL_CHANGED);
  let expected: object = ALL_CHANGED;
  for (const [section, value] of Object.entries(ALL_DEFAULTS)) {
    expected = { ...expected, [section]: value };
    expect(await update({ [section]: null })).toEqual(expected);
  }
  expect(await config()).toEqual(ALL_DEFAULTS);
});

test('in a section, absent fields stay and null sets the default, but a theme is replaced as a whole', async () => {
  await update(ALL_CHANGED);
  const changed = await update({
    creatorMode: { workspaceTitle: null, showGeneratedSql: true },
    timezoneSettings: { enabled: false },
    appTheme: { light: scheme, dark: scheme },
  });
  expect(changed.creatorMode).toEqual({
    ...ALL_CHANGED.creatorMode,
    workspaceTitle: null,
    showGeneratedSql: true,
  });
  expect(changed.timezoneSettings).toEqual({ ...ALL_CHANGED.timezoneSettings, enabled: false });
  expect(changed.appTheme).toEqual({ light: scheme, dark: scheme });
  expect(changed.embedding).toEqual(CHANGED);
});

test.each<[string, object, string]>([
  ['a theme of one scheme', { appTheme: { light: scheme } }, 'appTheme.dark'],
  [
    'a logo that is not a web address',
    { appTheme: { ...appTheme, dark: { ...scheme, logoUrl: 'javascript:alert(1)' } } },
    'appTheme.dark.logoUrl',
  ],
  [
    'a theme larger than 64 KB',
    {
      appTheme: {
        ...appTheme,
        typography: {
          ...appTheme.typography,
          fonts: Array.from({ length: 50 }, () => ({
            ...font,
            url: `https://example.com/${'x'.repeat(1900)}`,
          })),
        },
      },
    },
    'appTheme',
  ],
  [
    'a title with an invalid language tag',
    { creatorMode: { localizedTitles: [{ locale: 'de_AT', value: 'x' }] } },
    'creatorMode.localizedTitles[0].locale',
  ],
  [
    'two titles in one language',
    {
      creatorMode: {
        localizedTitles: [
          { locale: 'DE-at', value: 'x' },
          { locale: 'de-AT', value: 'y' },
        ],
      },
    },
    'creatorMode.localizedTitles[1].locale',
  ],
  ['an unknown time zone', { timezoneSettings: { timezone: 'Mars/Phobos' } }, 'timezoneSettings.timezone'],
  ['an unknown section', { chat: {} }, 'chat'],
])('bad input changes nothing: %s', async (_, body, path) => {
  await update(ALL_CHANGED);
  await expect(update({ applyThemeGlobally: false, ...body })).rejects.toMatchObject({
    status: 400,
    code: 'invalid_request',
    issues: expect.arrayContaining([expect.objectContaining({ path })]),
  });
  expect(await config()).toEqual(ALL_CHANGED);
});

test('viewers read it with their embed token, and it applies if their session sets nothing else', async () => {
  const { id: deploymentId } = await world.deployment();
  const silent = await world.embedded({ deploymentId, externalId: 'silent' });
  const forced = await world.embedded({
    deploymentId,
    externalId: 'forced',
    settings: { showDashboardChat: true },
  });
  await update(ALL_CHANGED);
  expect(await silent.client.getAppConfig()).toEqual(ALL_CHANGED);
  const shown = async ({ client }: typeof silent) =>
    (await client.getEmbedSession()).settings.showDashboardChat;
  await expect.poll(() => shown(silent)).toBe(false);
  expect(await shown(forced)).toBe(true);
  await update({ embedding: null });
  await expect.poll(() => shown(silent)).toBe(true);
  await expect(silent.client.updateAppConfig({ body: {} })).rejects.toMatchObject({ status: 403 });
});

test('each field can be changed alone, and null sets it back to its default', async () => {
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

test('settings of the account and app configuration do not change each other', async () => {
  const { useCreatorMode } = await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  await change(CHANGED);
  expect((await world.admin.getTenantSettings()).useCreatorMode).toBe(useCreatorMode);
  await world.admin.updateTenantSettings({ body: { useCreatorMode: false } });
  expect((await config()).embedding).toEqual(CHANGED);
});

test('parallel changes of different fields are all kept', async () => {
  await Promise.all(Object.entries(CHANGED).map(([name, value]) => change({ [name]: value })));
  expect((await config()).embedding).toEqual(CHANGED);
});

test('a language tag is stored in its canonical form', async () => {
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
  ['a list', { embedding: [] }],
  ['text for a flag', { applyThemeGlobally: 'true' }],
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

test('everybody can read it, only admins can change it, and changes are audited', async () => {
  const { client } = await world.person({ roles: [] });
  await change(CHANGED);
  expect(await client.getAppConfig()).toEqual(await config());
  await expect(client.updateAppConfig({ body: { embedding: {} } })).rejects.toMatchObject({ status: 403 });
  const entries = await query(
    "select before, after from audit_log where resource_type = 'appConfig' order by id desc limit 1",
  );
  expect(entries).toEqual([{ before: { embedding: {} }, after: { embedding: CHANGED } }]);
});

test('everybody reads the theme of the account at its own address', async () => {
  const { client } = await world.person();
  expect(await client.getAppTheme()).toEqual({ appTheme: null, applyThemeGlobally: false });
  await world.admin.updateAppConfig({ body: { appTheme, applyThemeGlobally: true } });
  expect(await client.getAppTheme()).toEqual({ appTheme, applyThemeGlobally: true });
});
