/** The parts of a session other than groups and attributes: profiles, the embed tenant, settings and theme. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnEmbedding, type Embedding } from '../../../test/embedding.ts';
import { unique } from '../../../test/world.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createOwnEmbedding();
});
afterAll(() => embedding.stop());

const NOT_MATCHING = { status: 400, code: 'invalid_request' };

describe('the profile', () => {
  const ADA = { displayName: 'Ada', picture: 'https://example.com/ada.png' };

  test('belongs to the user, and a later profile replaces it', async () => {
    const externalId = unique('ada');
    expect((await embedding.see({ externalId, userProfile: ADA })).user).toMatchObject(ADA);
    const changed = { displayName: 'Ada L.', picture: 'http://example.com/2.svg' };
    expect((await embedding.see({ externalId, userProfile: changed })).user).toMatchObject(changed);
  });

  test.each<[string, unknown]>([
    ['left out', undefined],
    ['null', null],
    ['empty', {}],
    ['of nulls', { displayName: null, picture: null }],
  ])('keeps the stored values if it is %s', async (_, userProfile) => {
    const externalId = unique('ada');
    await embedding.mint({ externalId, userProfile: ADA });
    expect((await embedding.see({ externalId, userProfile })).user).toMatchObject(ADA);
  });

  test('keeps one property if only the other is given', async () => {
    const externalId = unique('ada');
    await embedding.mint({ externalId, userProfile: ADA });
    const named = await embedding.see({ externalId, userProfile: { displayName: 'Lady' } });
    expect(named.user).toMatchObject({ displayName: 'Lady', picture: ADA.picture });
    const picture = 'https://example.com/other.webp';
    const pictured = await embedding.see({ externalId, userProfile: { picture } });
    expect(pictured.user).toMatchObject({ displayName: 'Lady', picture });
  });

  test.each([
    'http://example.com/a.png',
    'https://example.com/a.png?size=96&v=2#top',
    'https://user@example.com:8443/%C3%A9.jpg',
    'https://127.0.0.1/a.gif',
    'https://[::1]/a.gif',
    'HTTPS://Example.COM/A.png',
    'hTTp://example.com/a.png',
    'https://bücher.example/größe.png?für=ä',
    'https://例え.テスト/絵.png',
    'https://[2001:db8::1]:8443/a[1].png?size[]=96',
    'https://nowhere.invalid/not-an-image.exe',
    `https://example.com/${'x'.repeat(2048 - 20)}`,
  ])('accepts the picture %s and does not fetch it', async (picture) => {
    expect((await embedding.see({ userProfile: { picture } })).user.picture).toBe(picture);
  });

  test.each<[string, unknown]>([
    ['without a scheme', 'example.com/a.png'],
    ['without a scheme, after two slashes', '//example.com/a.png'],
    ['that is a path', '/a.png'],
    ['that runs a script', 'javascript:alert(1)'],
    ['that holds its data', 'data:image/png;base64,AAAA'],
    ['by ftp', 'ftp://example.com/a.png'],
    ['without a host', 'https://'],
    ['with nothing but a path', 'https:///a.png'],
    ['with a space', 'https://example.com/a b.png'],
    ['with a backslash', 'https://example.com\\a.png'],
    ['with a line break', 'https://example.com/a\n.png'],
    ['with an open bracket', 'https://[::1/a.png'],
    ['with an invalid port', 'https://example.com:99999/a.png'],
    ['with no host but a port', 'HTTPS://:443/a.png'],
    ['with a leading space', ' https://example.com/a.png'],
    ['with a quote', 'https://example.com/"onerror="alert(1)'],
    ['that is empty', ''],
    ['that is not text', 1],
    ['that is too long', `https://example.com/${'x'.repeat(2048)}`],
  ])('refuses a picture %s', async (_, picture) => {
    expect(await embedding.refusal({ userProfile: { picture } })).toMatchObject({
      ...NOT_MATCHING,
      issues: expect.arrayContaining([{ path: 'userProfile.picture', message: expect.any(String) }]),
    });
  });

  test('refuses other fields, and names that are too long', async () => {
    for (const userProfile of [{ firstName: 'Ada' }, { displayName: 'x'.repeat(256) }, { displayName: 1 }])
      expect(await embedding.refusal({ userProfile })).toMatchObject(NOT_MATCHING);
  });
});

describe('the embed tenant', () => {
  test('is the account if none is given', async () => {
    for (const embedTenantName of [undefined, null])
      expect((await embedding.see({ embedTenantName })).embedTenantName).toBe('oriel');
  });

  test('is created with its first session', async () => {
    const embedTenantName = embedding.tenant();
    const find = () => embedding.rows('select * from embed_tenants where name = $1', [embedTenantName]);
    expect(await find()).toEqual([]);
    expect((await embedding.see({ embedTenantName })).embedTenantName).toBe(embedTenantName);
    expect(await find()).toHaveLength(1);
    const audited = await embedding.rows('select * from audit_log where resource_id = $1', [embedTenantName]);
    expect(audited).toMatchObject([{ operation: 'generateSession', resource_type: 'embedTenant' }]);
  });

  test.each(['abcde', 'a----b', 'acme1', 'a'.repeat(36), `a${'-'.repeat(34)}9`])(
    'may have the name %s',
    async (embedTenantName) => {
      expect((await embedding.see({ embedTenantName })).embedTenantName).toBe(embedTenantName);
    },
  );

  test.each([
    'abcd',
    'a'.repeat(37),
    '1acme',
    '-acme',
    'acme-',
    'Acme1',
    'ac me',
    'ac_me',
    'ac.me',
    'acmé1',
    'acme1\n',
    '',
    '     ',
    5,
  ])('cannot have the name %j', async (embedTenantName) => {
    expect(await embedding.refusal({ embedTenantName })).toMatchObject({
      ...NOT_MATCHING,
      issues: [{ path: 'embedTenantName' }],
    });
  });

  test('has a display name, which stays if none is given, and is audited if it changes', async () => {
    const embedTenantName = embedding.tenant();
    const name = async (...profiles: unknown[]) => {
      for (const embedTenantProfile of profiles)
        await embedding.mint({ embedTenantName, embedTenantProfile });
      const [row] = await embedding.rows('select display_name from embed_tenants where name = $1', [
        embedTenantName,
      ]);
      return row.display_name;
    };
    expect(await name(undefined)).toBeNull();
    expect(await name({ displayName: 'Acme' })).toBe('Acme');
    expect(await name({ displayName: 'Acme' }, undefined, null, {}, { displayName: null })).toBe('Acme');
    expect(await name({ displayName: 'Acme & Co' })).toBe('Acme & Co');
    const audited = await embedding.rows('select after from audit_log where resource_id = $1 order by id', [
      embedTenantName,
    ]);
    expect(audited.map(({ after }) => after.displayName)).toEqual([null, 'Acme', 'Acme & Co']);
    for (const embedTenantProfile of [{ name: 'x' }, { displayName: 'x'.repeat(256) }, 'Acme'])
      expect(await embedding.refusal({ embedTenantName, embedTenantProfile })).toMatchObject(NOT_MATCHING);
  });
});

describe('settings', () => {
  test('decide whether the dashboard chat shows: the session first, then the account, then yes', async () => {
    const shown = async (settings?: unknown) =>
      (await embedding.see({ settings })).settings.showDashboardChat;
    const unsaid = [undefined, null, {}, { showDashboardChat: null }];
    for (const settings of unsaid) expect(await shown(settings)).toBe(true);
    const account = (embeddingSettings: object) =>
      embedding.rows('update tenant_settings set embedding = $1', [embeddingSettings]);
    await account({ showDashboardChat: false });
    await expect.poll(() => shown()).toBe(false);
    for (const settings of unsaid) expect(await shown(settings)).toBe(false);
    expect(await shown({ showDashboardChat: true })).toBe(true);
    await account({ showDashboardChat: true });
    await expect.poll(() => shown()).toBe(true);
    expect(await shown({ showDashboardChat: false })).toBe(false);
  });

  test('belong to the session, not to the user', async () => {
    const externalId = unique('ada');
    const { client } = await embedding.world.embedded(
      embedding.request({ externalId, settings: { showDashboardChat: false } }),
    );
    expect((await embedding.see({ externalId })).settings.showDashboardChat).toBe(true);
    expect((await client.getEmbedSession()).settings.showDashboardChat).toBe(false);
  });

  test.each([{ showDashboardChat: 'no' }, { showChat: true }, 'off', []])(
    'cannot be %j',
    async (settings) => {
      expect(await embedding.refusal({ settings })).toMatchObject(NOT_MATCHING);
    },
  );
});

test('a theme is stored with the session and shown to its viewer', async () => {
  const embedTheme = {
    primaryColor: '#3366ff',
    font: 'Inter',
    borderRadius: 4,
    chat: { inputColor: 'red' },
    analyticsChat: { backgroundColor: '#fff', chatInput: { backgroundColor: '#eee', borderColor: '#ccc' } },
  };
  const externalId = unique('ada');
  expect((await embedding.see({ externalId, embedTheme })).embedTheme).toEqual(embedTheme);
  expect((await embedding.see({ externalId })).embedTheme).toBeNull();
  for (const wrong of [{ colour: 'red' }, { borderRadius: -1 }, { chat: { colour: 'red' } }])
    expect(await embedding.refusal({ embedTheme: wrong })).toMatchObject(NOT_MATCHING);
});
