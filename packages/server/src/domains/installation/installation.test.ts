import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { logIn } from '../../../test/sign-in.ts';
import { ADMIN_KEY, ADMIN_PASSWORD, createOwnWorld, SECRET_KEY, type World } from '../../../test/world.ts';
import { readConfig } from '../../config.ts';
import { startServer } from '../../start-server.ts';
import { hashApiKey } from '../api-keys/index.ts';
import { addAdminKey } from './index.ts';

const ADMIN = { email: 'admin@example.com' };

const worlds: World[] = [];
async function world(env?: Record<string, string>) {
  const made = await createOwnWorld({ env });
  worlds.push(made);
  return made;
}
afterEach(async () => {
  for (const made of worlds.splice(0)) await made.stop();
});

test('the demo is created once, as deployment 1, with the same content in every installation', async () => {
  const [a, b] = [await world({ ORIEL_DEMO: 'true' }), await world({ ORIEL_DEMO: 'true' })];
  const deploymentsOf = async ({ admin }: World) =>
    (await admin.getDeployments()).items.map(({ id, name }) => ({ id, name }));
  expect(await deploymentsOf(a)).toEqual([{ id: 1, name: 'Acme Commerce' }]);
  const contentOf = async ({ admin }: World) => {
    const reports = await admin.getReports({ deploymentId: 1, first: 1000, sortBy: 'name' });
    return reports.items.map(({ publicId, name, folderPath }) => ({ publicId, name, folderPath }));
  };
  expect((await contentOf(a)).length).toBeGreaterThan(200);
  expect(await contentOf(b)).toEqual(await contentOf(a));
  await a.anotherServer();
  expect(await deploymentsOf(a)).toHaveLength(1);
});

test('the demo has user attributes and creator mode', async () => {
  const { admin } = await world({ ORIEL_DEMO: 'true' });
  const { data } = await admin.getUserAttributes();
  expect(data.map(({ name, type }) => [name, type])).toEqual([
    ['region', 'string'],
    ['tier', 'number'],
    ['regions', 'string_array'],
    ['thresholds', 'number_array'],
    ['is_partner', 'boolean'],
  ]);
  for (const { displayName, description } of data) {
    expect(displayName).toBeTruthy();
    expect(description).toBeTruthy();
  }
  expect(await admin.getTenantSettings()).toMatchObject({ useCreatorMode: true });
});

test('without the demo there are no attributes and no creator mode', async () => {
  const { admin } = await world();
  expect(await admin.getUserAttributes()).toMatchObject({ count: 0, items: [] });
  expect(await admin.getTenantSettings()).toMatchObject({ useCreatorMode: false });
});

test('deleted demo content stays deleted after a restart', async () => {
  const { admin, anotherServer } = await world({ ORIEL_DEMO: 'true' });
  await admin.deleteDeployment({ deploymentId: 1 });
  await anotherServer();
  expect((await admin.getDeployments()).items).toEqual([]);
});

test('the settings of the first admin are used only while there is no user', async () => {
  const made = await world();
  expect(made.server.firstAdmin).toEqual({
    email: 'admin@example.com',
    generatedPassword: undefined,
    generatedApiKey: undefined,
  });
  const second = await made.anotherServer();
  expect(second.firstAdmin).toBeUndefined();
  expect((await made.client(ADMIN_KEY).listApiKeys()).items).toHaveLength(1);
});

/** Starts another server on the same database with these settings, and returns the warnings about them in its log. */
async function warningsOf({ databaseUrl }: World, env: Record<string, string>) {
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line).msg) });
  const given = { ORIEL_PORT: '0', ORIEL_DATABASE_URL: databaseUrl, ORIEL_SECRET_KEY: SECRET_KEY };
  const server = await startServer(readConfig({ ...given, ...env }), log);
  await server.stop();
  // This one is about the machine.
  return warnings.filter((warning) => warning !== 'engines run without a sandbox');
}

test('admin settings that have no effect cause a warning, unless they are still true', async () => {
  const made = await world();
  const kept = {
    ORIEL_ADMIN_API_KEY: ADMIN_KEY,
    ORIEL_ADMIN_EMAIL: 'Admin@example.com',
    ORIEL_ADMIN_PASSWORD: ADMIN_PASSWORD,
  };
  expect(await warningsOf(made, kept)).toEqual([]);
  const changed = {
    ORIEL_ADMIN_API_KEY: 'sk-another-one-that-was-never-made-here',
    ORIEL_ADMIN_EMAIL: 'eve@example.com',
    ORIEL_ADMIN_PASSWORD: 'another one that was never set',
    ORIEL_SAML_ISSUER: 'https://id.example.com',
    ORIEL_PROT: '1',
  };
  expect(await warningsOf(made, changed)).toEqual([
    'ORIEL_SAML_ISSUER is not a setting of Oriel, and is ignored',
    'ORIEL_PROT is not a setting of Oriel, and is ignored',
    expect.stringMatching(/^ORIEL_ADMIN_API_KEY has no effect: .*the command `admin-key`/),
    expect.stringMatching(/^ORIEL_ADMIN_PASSWORD has no effect: .*reset link/),
    expect.stringMatching(/^ORIEL_ADMIN_EMAIL has no effect: /),
  ]);
});

test('another tenant name is refused, and an older database without a tenant name gets the one of the settings', async () => {
  const made = await world();
  const attempt = warningsOf(made, { ORIEL_TENANT: 'acme-corp' });
  await expect(attempt).rejects.toThrow(
    'This database was set up with the tenant name oriel, but the setting is now acme-corp: set ORIEL_TENANT to oriel.',
  );
  await made.server.db.pool.query('update installation set tenant = null');
  expect(await warningsOf(made, { ORIEL_TENANT: 'acme-corp' })).toEqual([]);
  await expect(warningsOf(made, {})).rejects.toThrow('set ORIEL_TENANT to acme-corp');
});

test('the first admin signs in with the password of the settings, or with the one that was generated', async () => {
  const given = await world();
  await expect(logIn(given, ADMIN, ADMIN_PASSWORD)).resolves.toBeTruthy();
  const generating = await world({ ORIEL_ADMIN_PASSWORD: '' });
  const { generatedPassword } = generating.server.firstAdmin!;
  expect(generatedPassword).toMatch(/^[\w-]{24}$/);
  await expect(logIn(generating, ADMIN, generatedPassword)).resolves.toBeTruthy();
  await expect(logIn(generating, ADMIN, ADMIN_PASSWORD)).rejects.toMatchObject({ status: 401 });
});

test('a new key for an admin works at once and is in the audit log', async () => {
  const made = await world();
  const { db } = made.server;
  const shown: [string, string][] = [];
  const show = (username: string, apiKey: string) => void shown.push([username, apiKey]);
  const grace = await made.admin.createUser({
    body: { username: 'grace', email: 'grace@example.com', roles: ['Admin'] },
  });
  await made.admin.createUser({ body: { username: 'viewer', email: 'viewer@example.com' } });

  await addAdminKey(db, { user: undefined, show });
  await addAdminKey(db, { user: 'GRACE@example.com', show });
  expect(shown.map(([username]) => username)).toEqual(['admin@example.com', 'grace']);
  const [first, second] = shown.map(([, apiKey]) => apiKey);
  await expect(made.client(first).getMe()).resolves.toMatchObject({ isAdmin: true });
  await expect(made.client(second).getMe()).resolves.toMatchObject({ id: grace.id });

  const { rows } = await db.pool.query(
    `select l.resource_type, l.user_id, l.after, k.key_hash from audit_log l
     join api_keys k on k.id = l.resource_id::bigint where l.operation = 'adminKey' order by l.id`,
  );
  expect(rows).toMatchObject([
    { resource_type: 'apiKey', user_id: null, after: { userId: 1 }, key_hash: hashApiKey(first!) },
    { resource_type: 'apiKey', user_id: null, after: { userId: grace.id }, key_hash: hashApiKey(second!) },
  ]);

  for (const user of ['viewer', 'nobody']) {
    await expect(addAdminKey(db, { user, show })).rejects.toThrow(
      `no active admin with the username or email ${user}`,
    );
  }
  await made.admin.updateUser({ id: grace.id, body: { isDeactivated: true } });
  await expect(addAdminKey(db, { user: 'grace', show })).rejects.toThrow('no active admin');
  expect(shown).toHaveLength(2);
});

test('a key that could not be shown is not stored', async () => {
  const made = await world();
  const show = () => {
    throw new Error('nobody reads this');
  };
  await expect(addAdminKey(made.server.db, { user: undefined, show })).rejects.toThrow('nobody reads this');
  expect((await made.admin.listApiKeys()).items).toHaveLength(1);
});
