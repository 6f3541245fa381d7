import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const FULL = {
  firstName: 'Ada 🌙',
  picture: 'https://example.com/ada.png',
  notifications: ['digest', 'alerts'],
};

test('everybody can change their own name, picture and notifications, and sees it at once', async () => {
  const { client, userId } = await world.person();
  await client.getMe();
  const shown = { ...FULL, notifications: { digest: true, alerts: true } };
  expect(await client.updateMe({ body: FULL })).toMatchObject({ id: userId, ...shown });
  expect(await client.getMe()).toMatchObject(shown);
  expect(await client.updateMe({ body: { firstName: null, notifications: null } })).toMatchObject({
    ...shown,
    firstName: null,
  });
  expect(await client.getMe()).toMatchObject({ ...shown, firstName: null, roles: ['Viewer'] });
});

test('the change is in the audit log', async () => {
  const { client, userId } = await world.person();
  await client.updateMe({ body: { firstName: 'Eve' } });
  const { rows } = await world.server.db.pool.query(
    `select user_id as "userId", resource_id as "resourceId", before, after from audit_log
     where operation = 'updateMe' and resource_id = $1`,
    [String(userId)],
  );
  expect(rows).toMatchObject([
    { userId, resourceId: String(userId), before: { firstName: null }, after: { firstName: 'Eve' } },
  ]);
});

test('nobody can fill the audit log by changing themselves again and again', async () => {
  const { client, userId } = await world.person();
  const change = (i: number) =>
    client.updateMe({
      body: { notifications: Array.from({ length: 100 }, (_, n) => `${i}-${n}-${'x'.repeat(200)}`) },
    });
  for (let i = 0; i < 60; i++) await change(i);
  await expect(change(60)).rejects.toMatchObject({ status: 429, code: 'rate_limited' });
  const { rows } = await world.server.db.pool.query(
    `select count(*)::int as entries, max(pg_column_size(before) + pg_column_size(after)) as bytes
     from audit_log where operation = 'updateMe' and user_id = $1`,
    [userId],
  );
  expect(rows).toEqual([{ entries: 60, bytes: expect.any(Number) }]);
  expect(rows[0].bytes).toBeLessThan(1000);
});

test.each<[string, object]>([
  ['roles', { roles: ['Admin'] }],
  ['isAdmin', { isAdmin: true }],
  ['isDeactivated', { isDeactivated: true }],
  ['an email', { email: 'root@example.com' }],
  ['a username', { username: 'root' }],
  ['a password', { password: 'a long password' }],
  ['a security context', { securityContext: { customer: 1 } }],
  ['a picture that is no web address', { picture: 'javascript:alert(1)' }],
  ['a picture address that is too long', { picture: `https://example.com/${'x'.repeat(2048)}` }],
  ['a name of 256 characters', { firstName: 'x'.repeat(256) }],
  ['101 notifications', { notifications: Array.from({ length: 101 }, (_, i) => `n${i}`) }],
])('nobody can change this about themselves: %s', async (_, body) => {
  const { client } = await world.person();
  const before = await client.getMe();
  await expect(client.updateMe({ body })).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await client.getMe()).toEqual(before);
});

test('a picture address of 10 MB is refused before it is read', async () => {
  const { apiKey } = await world.person();
  const body = JSON.stringify({ picture: `https://example.com/${'x'.repeat(10 * 1024 * 1024)}` });
  const headers = { 'content-type': 'application/json' };
  for (const [method, path] of [
    ['PUT', '/api/v1/users/me'],
    ['POST', '/api/v1/users'],
  ] as const) {
    const key = method === 'PUT' ? { apiKey } : {};
    const response = await world.raw(method, path, { headers, body, ...key });
    expect(response.status).toBe(413);
  }
});

test('a scoped key cannot change its owner', async () => {
  const { id } = await world.deployment();
  const { client } = await world.person({ deploymentIds: [id] });
  const attempt = client.updateMe({ body: { firstName: 'Eve' } });
  await expect(attempt).rejects.toMatchObject({ status: 403, code: 'outside_key_scope' });
});

test('users read the theme that an admin set for them, and only that', async () => {
  const [one, two] = [await world.person(), await world.person()];
  expect(await one.client.getEmbedTheme()).toEqual({ embedTheme: null });
  const embedTheme = { primaryColor: '#36f', chat: { inputColor: 'white' } };
  await world.admin.updateUser({ id: one.userId, body: { embedTheme } });
  expect(await one.client.getEmbedTheme()).toEqual({ embedTheme });
  expect(await two.client.getEmbedTheme()).toEqual({ embedTheme: null });
});
