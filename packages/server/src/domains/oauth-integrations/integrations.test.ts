/** Integrations: who manages them, what they may be, and that their secret goes nowhere else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectingPerson, connectingRole, integrationOf } from '../../../test/oauth.ts';
import { createWorld, SECRET_KEY, unique, type World } from '../../../test/world.ts';
import { createBox } from '../../platform/secrets/box.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const SERVICE = 'https://login.example.com';
const body = (more: object = {}) => ({
  ...integrationOf(world, SERVICE),
  clientSecret: 'the-secret-nobody-sees',
  ...more,
});
const secretOf = async (id: number) => {
  const { rows } = await world.server.db.pool.query(
    'select client_secret from oauth_integrations where id = $1',
    [id],
  );
  const place = { table: 'oauth_integrations', column: 'client_secret', keyColumn: 'id', holds: '' };
  return createBox(place, createKeyring([SECRET_KEY]))
    .open(String(id), rows[0].client_secret)
    .toString();
};

test('an integration is made, listed, changed and deleted, and its secret is stored sealed and shown nowhere', async () => {
  const { clientSecret, ...shown } = body();
  const made = await world.admin.createOAuthIntegration({ body: { ...shown, clientSecret } });
  expect(made).toEqual({ ...shown, id: made.id, createdAt: made.createdAt, updatedAt: made.createdAt });
  expect(await world.admin.getOAuthIntegration({ id: made.id })).toEqual(made);
  expect(await world.admin.listOAuthIntegrations()).toContainEqual(made);
  expect(await secretOf(made.id)).toBe(clientSecret);
  const { rows } = await world.server.db.pool.query(
    'select i::text from oauth_integrations i where id = $1',
    [made.id],
  );
  expect(rows[0].i).not.toContain(Buffer.from(clientSecret).toString('hex'));

  const renamed = { ...shown, name: unique('renamed'), scopes: ['read'], config: undefined };
  const changed = await world.admin.updateOAuthIntegration({ id: made.id, body: renamed });
  expect(changed).toMatchObject({ name: renamed.name, scopes: ['read'], config: shown.config });
  expect(await secretOf(made.id)).toBe(clientSecret);

  await world.admin.deleteOAuthIntegration({ id: made.id });
  const gone = { status: 404, code: 'oauth_integration_not_found' };
  await expect(world.admin.getOAuthIntegration({ id: made.id })).rejects.toMatchObject(gone);
  await expect(world.admin.deleteOAuthIntegration({ id: made.id })).rejects.toMatchObject(gone);
  const { items } = await world.admin.listAuditLog({
    resourceType: 'oauthIntegration',
    resourceId: String(made.id),
  });
  expect(items.map(({ operation }) => operation)).toEqual([
    'deleteOAuthIntegration',
    'updateOAuthIntegration',
    'createOAuthIntegration',
  ]);
  expect(JSON.stringify(items)).toContain('login.example.com/token');
  expect(JSON.stringify(items)).not.toContain('nobody-sees');
  // The name is free again, although a job may still have to revoke tokens.
  await world.admin.createOAuthIntegration({ body: body({ name: changed.name }) });
});

test('a stored secret is sent to no other address: changing one needs the secret again', async () => {
  const { clientSecret, ...shown } = body();
  const { id } = await world.admin.createOAuthIntegration({ body: { ...shown, clientSecret } });
  const update = (more: object) => world.admin.updateOAuthIntegration({ id, body: { ...shown, ...more } });
  const refused = {
    status: 400,
    code: 'oauth_secret_required',
    issues: [{ path: 'clientSecret', message: expect.stringContaining('again') }],
  };
  const elsewhere = 'https://evil.example.com/collect';
  await expect(update({ tokenUrl: elsewhere })).rejects.toMatchObject(refused);
  await expect(update({ tokenUrl: elsewhere, clientSecret: null })).rejects.toMatchObject(refused);
  await expect(update({ config: { ...shown.config, revocationUrl: elsewhere } })).rejects.toMatchObject(
    refused,
  );
  expect(await world.admin.getOAuthIntegration({ id })).toMatchObject({ tokenUrl: shown.tokenUrl });
  const changed = await update({ tokenUrl: elsewhere, clientSecret: 'another-secret' });
  expect(changed.tokenUrl).toBe(elsewhere);
  expect(await secretOf(id)).toBe('another-secret');
  // Without an address for revocations nothing is sent there.
  await update({ tokenUrl: elsewhere, config: {} });
});

test('managing needs one action, and connecting the other, which managing includes', async () => {
  const connecting = await connectingPerson(world, [await connectingRole(world)]);
  const { id } = await world.admin.createOAuthIntegration({ body: body() });
  expect(await connecting.client.listOAuthIntegrations()).toContainEqual(expect.objectContaining({ id }));
  const forbidden = { status: 403 };
  await expect(connecting.client.createOAuthIntegration({ body: body() })).rejects.toMatchObject(forbidden);
  await expect(connecting.client.deleteOAuthIntegration({ id })).rejects.toMatchObject(forbidden);
  const developer = await world.person({ roles: ['Developer'] });
  await expect(developer.client.listOAuthIntegrations()).rejects.toMatchObject(forbidden);
  await expect(developer.client.initiateOAuthFlow({ integrationId: id })).rejects.toMatchObject(forbidden);
});

describe('bad input is refused, and stores nothing', () => {
  const ADDRESSES: [string, string][] = [
    ['a scheme of scripts', 'javascript:alert(1)'],
    ['a file', 'file:///etc/passwd'],
    ['another scheme', 'ftp://login.example.com/'],
    ['no TLS', 'http://login.example.com/'],
    ['a user name and a password', 'https://user:pass@login.example.com/'],
    ['a fragment', 'https://login.example.com/#x'],
    ['loopback', 'https://127.0.0.1/'],
    ['loopback in another form', 'https://0x7f000001/'],
    ['loopback by name', 'https://localhost:8443/'],
    ['loopback of IPv6', 'https://[::1]/'],
    ['a private network', 'https://10.1.2.3/'],
    ['the metadata of a cloud', 'https://169.254.169.254/latest'],
    ['an IPv4 address in one of IPv6', 'https://[::ffff:10.0.0.1]/'],
    ['control characters', 'https://login.example.com/\u0007'],
    ['100 KB', `https://login.example.com/${'x'.repeat(100_000)}`],
  ];
  const FIELDS = {
    authUrl: (address: string) => ({ authUrl: address }),
    tokenUrl: (address: string) => ({ tokenUrl: address }),
    'config.revocationUrl': (address: string) => ({ config: { revocationUrl: address } }),
  };
  const cases = Object.entries(FIELDS).flatMap(([field, given]) =>
    ADDRESSES.map(([what, address]) => [field, what, given(address)] as const),
  );

  async function refused(given: object) {
    const name = unique('refused');
    const attempt = world.admin.createOAuthIntegration({
      body: { ...body(), ...given, ...('name' in given ? {} : { name }) },
    });
    const error = await attempt.then(
      () => expect.unreachable(),
      (reason) => reason as { status: number; code: string; message: string; issues: { path: string }[] },
    );
    const all = await world.admin.listOAuthIntegrations();
    expect(all.map((one) => one.name)).not.toContain(name);
    return error;
  }

  test.each(cases)('%s: %s', async (field, _what, given) => {
    const error = await refused(given);
    expect([error.status, error.issues[0]?.path]).toEqual([400, field]);
  });

  test.each([
    ['name', 'line\nbreak'],
    ['type', '\u0000'],
    ['clientId', 'a\u0001b'],
    ['clientSecret', 'a\r\nb'],
  ])('%s with characters that it may not have', async (field, text) => {
    expect(await refused({ [field]: text })).toMatchObject({ status: 400, issues: [{ path: field }] });
  });

  test('an empty secret', async () => {
    expect(await refused({ clientSecret: '' })).toMatchObject({ status: 400 });
  });

  test.each(['name', 'type', 'clientId', 'clientSecret'])('%s of 100 KB', async (field) => {
    expect(await refused({ [field]: 'x'.repeat(100_000) })).toMatchObject({
      status: 400,
      issues: [{ path: field }],
    });
  });

  test('scopes with spaces, parameters of the protocol, unknown settings, hosts without a port', async () => {
    expect(await refused({ scopes: ['a b'] })).toMatchObject({ issues: [{ path: 'scopes[0]' }] });
    expect(await refused({ config: { authorizationParameters: { State: 'x' } } })).toMatchObject({
      issues: [{ path: 'config.authorizationParameters.State' }],
    });
    expect(await refused({ authUrl: `${SERVICE}/auth?redirect_uri=https://evil.example` })).toMatchObject({
      code: 'oauth_address_refused',
    });
    expect(await refused({ config: { revokeUrl: SERVICE } })).toMatchObject({ status: 400 });
    expect(await refused({ config: { hosts: ['db.example.com'] } })).toMatchObject({ status: 400 });
  });

  test('a redirect address that is not ours, with the right one in the message', async () => {
    const error = await refused({ redirectUri: 'https://evil.example/oauth/callback' });
    expect(error.code).toBe('oauth_redirect_uri_not_ours');
    expect(error.message).toContain(`${world.url}/oauth/callback`);
    for (const end of ['/', '/a/b', '/..', '/A', '?x=1', `/${'a'.repeat(65)}`]) {
      expect(await refused({ redirectUri: `${world.url}/oauth/callback${end}` })).toMatchObject({
        code: 'oauth_redirect_uri_not_ours',
      });
    }
  });

  test('a redirect address that an integration with another service has', async () => {
    const redirectUri = `${world.url}/oauth/callback/${unique('own')}`;
    const first = await world.admin.createOAuthIntegration({ body: body({ redirectUri }) });
    expect(first.redirectUri).toBe(redirectUri);
    // The same service may have several integrations there.
    const second = await world.admin.createOAuthIntegration({ body: body({ redirectUri }) });
    const elsewhere = { authUrl: 'https://other.example/authorize' };
    const taken = { status: 409, code: 'oauth_redirect_uri_taken' };
    expect(await refused({ redirectUri, ...elsewhere })).toMatchObject(taken);
    const update = world.admin.updateOAuthIntegration({
      id: second.id,
      body: body({ redirectUri, ...elsewhere }),
    });
    await expect(update).rejects.toMatchObject(taken);
    const own = `${redirectUri}-2`;
    await world.admin.createOAuthIntegration({ body: body({ redirectUri: own, ...elsewhere }) });
  });

  test('a name that another one has', async () => {
    const { name } = await world.admin.createOAuthIntegration({ body: body() });
    expect(await refused({ name })).toMatchObject({ status: 409, code: 'oauth_integration_name_taken' });
  });
});
