import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_PASSWORD, createOwnWorld, unique, type World } from '../../../test/world.ts';
import { MASK, maskSecrets } from './mask.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const entries = async (resourceType: string, id: number) =>
  (
    await world.server.db.pool.query(
      'select * from audit_log where resource_type = $1 and resource_id = $2 order by id',
      [resourceType, String(id)],
    )
  ).rows;

test('each change has an entry with the user, the key, the address, the resource, and its fields before and after', async () => {
  const person = await world.person({ roles: ['Admin'] });
  const created = await person.client.createApiKey({ body: { name: 'first' } });
  const response = await world.raw('PUT', `/api/v1/api-keys/${created.id}`, {
    apiKey: person.apiKey,
    headers: { 'content-type': 'application/json', 'x-request-id': 'rename-of-the-key' },
    body: JSON.stringify({ name: 'second' }),
  });
  expect(response.status).toBe(200);
  await person.client.deleteApiKey({ id: created.id });

  const [creation, rename, deletion] = await entries('apiKey', created.id);
  const who = { user_id: person.userId, api_key_id: person.apiKeyId, ip: '127.0.0.1', deployment_id: null };
  expect(creation).toMatchObject({
    ...who,
    operation: 'createApiKey',
    before: null,
    after: { name: 'first' },
  });
  expect(rename).toMatchObject({
    ...who,
    operation: 'updateApiKey',
    request_id: 'rename-of-the-key',
    before: { name: 'first' },
    after: { name: 'second' },
  });
  expect(deletion).toMatchObject({
    ...who,
    operation: 'deleteApiKey',
    before: { name: 'second' },
    after: null,
  });
});

test('the entry names the deployment', async () => {
  const { id } = await world.deployment();
  await world.admin.deleteDeployment({ deploymentId: id });
  expect((await entries('deployment', id)).map((entry) => [entry.operation, entry.deployment_id])).toEqual([
    ['createDeployment', id],
    ['deleteDeployment', id],
  ]);
});

test('a failed change leaves no entry, and a change that cannot be audited is undone', async () => {
  const count = async () =>
    Number((await world.server.db.pool.query('select count(*) from audit_log')).rows[0].count);
  const before = await count();
  await expect(world.admin.createApiKey({ body: { name: 'x', userId: 999_999 } })).rejects.toThrow();
  expect(await count()).toBe(before);

  await world.server.db.pool.query('alter table audit_log add constraint full_up check (id < 0) not valid');
  await expect(world.admin.createApiKey({ body: { name: 'unaudited' } })).rejects.toMatchObject({
    status: 500,
  });
  await world.server.db.pool.query('alter table audit_log drop constraint full_up');
  const keys = await world.server.db.pool.query("select from api_keys where name = 'unaudited'");
  expect(keys.rowCount).toBe(0);
});

test('no secret that Oriel hands out is readable in an entry, wherever somebody writes it', async () => {
  const { username } = await world.admin.getMe();
  const { accessToken, refreshToken } = await world.client().login({
    body: { username, password: ADMIN_PASSWORD } as never,
  });
  const device = (await world.client().createDeviceCode({ body: { clientId: 'a-tool' } })) as {
    deviceCode: string;
  };
  const { userId, apiKey } = await world.person();
  const link = new URL((await world.admin.createResetLink({ id: userId, body: {} })).url);
  const invited = await world.admin.createUser({
    body: { username: unique('invited'), email: `${unique('invited')}@example.com` },
  });
  const { id: deploymentId } = await world.deployment();
  const { sessionId } = await world.admin.generateSession({ body: { deploymentId, externalId: 'a' } });
  const secrets = [
    apiKey,
    accessToken,
    refreshToken,
    device.deviceCode,
    sessionId,
    ...[link, new URL(invited.invitationUrl!)].map((url) => [...url.searchParams.values()].join()),
  ];
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(30);
    await world.admin.updateUser({
      id: userId,
      body: { title: `see ${secret}, or ${link.origin}/?link=${secret}` },
    });
  }
  const updates = (await entries('user', userId)).filter(({ operation }) => operation === 'updateUser');
  expect(updates.map(({ after }) => after.title)).toEqual(
    // The second entry and those after it write the same words.
    [`see ${MASK}, or ${link.origin}/?link=${MASK}`, ...updates.slice(1).map(() => expect.any(String))],
  );
  const text = JSON.stringify(updates);
  expect(secrets.filter((secret) => text.includes(secret.slice(-24)))).toEqual([]);
});

test.each([
  'sk-0123456789abcdefghij',
  'oriel_access_0123456789abcdefghij0123456789',
  'oriel_refresh_12.0123456789abcdefghij0123456789',
  'oriel_link_7.0123456789abcdefghij0123456789',
  'oriel_device_3.0123456789abcdefghij0123456789',
  '12.0123456789abcdefghij0123456789abcdefghij',
  '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
  'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----',
])('a secret is masked by its form, wherever it stands: %s', (secret) => {
  expect(maskSecrets({ note: `see ${secret}`, list: [secret] })).toEqual({
    note: `see ${MASK}`,
    list: [MASK],
  });
});

test('a password in an address is masked, and other texts stay as they are', () => {
  expect(maskSecrets({ url: 'postgres://ada:secret@db.example/x' })).toEqual({
    url: `postgres://ada:${MASK}@db.example/x`,
  });
  const kept = {
    url: 'https://example.com:8443/a@b',
    email: 'ada@example.com',
    note: 'task-force',
    file: 'oriel_notes.txt',
    price: '12.50, version 1.2.3-a-long-name-of-a-release',
    keyName: 'sk-1',
  };
  expect(maskSecrets(kept)).toEqual(kept);
});

test('secrets are masked at any depth', () => {
  const masked = maskSecrets({
    name: 'kept',
    password: 'x',
    key: 'sk-1',
    config: { clientSecret: 'x', accessToken: null, list: [{ apiToken: 'x', keyName: 'kept' }] },
  });
  expect(masked).toEqual({
    name: 'kept',
    password: MASK,
    key: MASK,
    config: { clientSecret: MASK, accessToken: null, list: [{ apiToken: MASK, keyName: 'kept' }] },
  });
});
