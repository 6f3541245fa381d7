import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRows } from '../../../test/hold.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import { reachesFurther } from './rules.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const MASKED = { status: 403, code: 'outside_key_scope' };

test('a key is shown once, is stored as a hash, and works', async () => {
  const { key, ...created } = await world.admin.createApiKey({ body: { name: 'backend' } });
  expect(key).toMatch(/^sk-[\w-]{43}$/);
  expect(await world.admin.getApiKey({ id: created.id })).toEqual(created);
  expect(JSON.stringify(await world.admin.listApiKeys())).not.toContain(key);
  const stored = await world.server.db.pool.query('select * from api_keys where id = $1', [created.id]);
  const audited = await world.server.db.pool.query('select * from audit_log');
  expect(JSON.stringify([stored.rows, audited.rows])).not.toContain(key);
  expect(await world.client(key).getMe()).toMatchObject({ isAdmin: true });
});

test('a key works with the schemes Api-Key and Bearer, in upper or lower case', async () => {
  const { apiKey } = await world.person();
  for (const scheme of ['Api-Key', 'api-key', 'Bearer', 'bearer']) {
    const response = await world.raw('GET', '/api/v1/users/me', {
      headers: { authorization: `${scheme} ${apiKey}` },
    });
    expect(response.status).toBe(200);
  }
  for (const authorization of [
    `Basic ${apiKey}`,
    apiKey,
    `Api-Key${apiKey}`,
    'Api-Key',
    `Api-Key ${apiKey} x`,
  ]) {
    expect((await world.raw('GET', '/api/v1/users/me', { headers: { authorization } })).status).toBe(401);
  }
});

test('a key has the rights of its user', async () => {
  const person = await world.person({ roles: ['Viewer'] });
  await expect(person.client.listApiKeys()).rejects.toMatchObject({ status: 403, code: 'forbidden' });
  await expect(person.client.createApiKey({ body: { name: 'mine' } })).rejects.toMatchObject({ status: 403 });
});

test('a key is renamed, scoped, unscoped and given an expiry', async () => {
  const deployment = await world.deployment();
  const { id } = await world.admin.createApiKey({ body: { name: 'before' } });
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const changed = await world.admin.updateApiKey({
    id,
    body: { name: 'after', deploymentIds: [deployment.id], expiresAt },
  });
  expect(changed).toMatchObject({ name: 'after', deploymentIds: [deployment.id], expiresAt });
  expect(await world.admin.updateApiKey({ id, body: {} })).toEqual(changed);
  const cleared = await world.admin.updateApiKey({ id, body: { deploymentIds: null, expiresAt: null } });
  expect(cleared).toMatchObject({ name: 'after', deploymentIds: null, expiresAt: null });
});

test.each([
  ['no name', {}],
  ['a blank name', { name: ' ' }],
  ['an empty scope', { name: 'x', deploymentIds: [] }],
  ['a scope that does not exist', { name: 'x', deploymentIds: [999_999_999] }],
  ['a user that does not exist', { name: 'x', userId: 999_999_999 }],
  ['an expiry in the past', { name: 'x', expiresAt: '2020-01-01T00:00:00.000Z' }],
  ['an expiry that is not a time', { name: 'x', expiresAt: 'tomorrow' }],
  ['a key of its own', { name: 'x', key: 'sk-chosen-by-the-caller' }],
])('bad input is refused: %s', async (_, body) => {
  const before = await countKeys();
  await expect(world.admin.createApiKey({ body: body as never })).rejects.toMatchObject({ status: 400 });
  expect(await countKeys()).toBe(before);
});

const countKeys = async () =>
  Number((await world.server.db.pool.query('select count(*) from api_keys')).rows[0].count);

test('neither a viewer nor somebody who was deleted gets a key', async () => {
  const { id: deploymentId } = await world.deployment();
  await world.embedded({ deploymentId, externalId: 'viewer-without-keys' });
  const { rows } = await world.server.db.pool.query(
    `select id from users where external_id = 'viewer-without-keys'`,
  );
  const { userId: deleted } = await world.person();
  await world.admin.deleteUser({ id: deleted });
  for (const userId of [Number(rows[0].id), deleted])
    await expect(world.admin.createApiKey({ body: { name: 'x', userId } })).rejects.toMatchObject({
      status: 400,
    });
});

test('nobody gets a key while they are being deleted', async () => {
  const [gone, going] = [await world.person(), await world.person()];
  const keyFor = (userId: number) => world.admin.createApiKey({ body: { name: 'x', userId } });
  await world.server.db.pool.query('update users set deleted_at = now() where id = $1', [gone.userId]);
  await expect(keyFor(gone.userId)).rejects.toMatchObject({ status: 400 });

  const held = await holdRows(world, 'users', [going.userId]);
  const asked = keyFor(going.userId);
  asked.catch(() => {});
  await held.waiting();
  await held.release('update users set deleted_at = now() where id = any($1)');
  await expect(asked).rejects.toMatchObject({ status: 400 });
});

test('of two changes of a key at once, neither undoes the other', async () => {
  const { apiKeyId: id } = await world.person();
  const { id: deploymentId } = await world.deployment();
  const held = await holdRows(world, 'api_keys', [id]);
  const renamed = world.admin.updateApiKey({ id, body: { name: 'renamed' } });
  await held.waiting();
  await held.release(`update api_keys set deployment_ids = '{${deploymentId}}' where id = any($1)`);
  expect(await renamed).toMatchObject({ name: 'renamed', deploymentIds: [deploymentId] });
});

test('a key cannot be changed to have expired already', async () => {
  const { apiKeyId: id } = await world.person();
  const change = world.admin.updateApiKey({ id, body: { expiresAt: '2020-01-01T00:00:00Z' } });
  await expect(change).rejects.toMatchObject({ status: 400 });
  expect((await world.admin.getApiKey({ id })).expiresAt).toBeNull();
});

test('after a key is deleted, its next request is a 401, and reading it is a 404', async () => {
  const person = await world.person();
  await person.client.getMe();
  await world.admin.deleteApiKey({ id: person.apiKeyId });
  await expect.poll(() => person.client.getMe().catch((error) => error.status)).toBe(401);
  await expect(world.admin.getApiKey({ id: person.apiKeyId })).rejects.toMatchObject({
    code: 'api_key_not_found',
  });
});

test('an expired key is a 401, even if it was verified just before', async () => {
  let apiKey = '';
  let wasAccepted = false;
  const statusNow = () =>
    world
      .client(apiKey)
      .getMe()
      .then(
        () => 200,
        (error) => error.status,
      );
  // On a busy machine a key can expire before its first use. Then the next key gets more time.
  for (let validMs = 400; !wasAccepted && validMs < 60_000; validMs *= 2) {
    const expiresAt = new Date(Date.now() + validMs).toISOString();
    apiKey = (await world.admin.createApiKey({ body: { name: 'brief', expiresAt } })).key;
    wasAccepted = (await statusNow()) === 200;
  }
  expect(wasAccepted).toBe(true);
  await expect.poll(statusNow).toBe(401);
});

test('a change of roles and a deactivation take effect for keys that are in use', async () => {
  const person = await world.person({ roles: ['Admin'] });
  await person.client.listApiKeys();
  await world.server.db.pool.query('delete from user_roles where user_id = $1', [person.userId]);
  await expect.poll(() => person.client.listApiKeys().catch((error) => error.status)).toBe(403);
  await world.server.db.pool.query('update users set is_deactivated = true where id = $1', [person.userId]);
  await expect.poll(() => person.client.getMe().catch((error) => error.status)).toBe(401);
});

test('the time of the last use of a key is stored', async () => {
  const other = await createOwnWorld();
  const { db } = await other.anotherServer();
  const { key, id } = await other.admin.createApiKey({ body: { name: 'used' } });
  const lastUsed = async () =>
    (await db.pool.query('select last_used_at from api_keys where id = $1', [id])).rows[0];
  expect(await lastUsed()).toEqual({ last_used_at: null });
  await other.client(key).getMe();
  await other.server.stop();
  expect((await lastUsed()).last_used_at).not.toBeNull();
  await other.stop();
});

test('a scoped key can use only its deployments, and all others are the same error, even if they do not exist', async () => {
  const [mine, other] = [await world.deployment(), await world.deployment()];
  const { client } = await world.person({ roles: ['Admin'], deploymentIds: [mine.id] });
  expect(await client.getDeployment({ deploymentId: mine.id })).toMatchObject({ id: mine.id });
  expect((await client.getDeployments()).items.map(({ id }) => id)).toEqual([mine.id]);
  expect((await client.getDeployments()).totalCount).toBe(1);
  await expect(client.getDeployment({ deploymentId: other.id })).rejects.toMatchObject(MASKED);
  await expect(client.getDeployment({ deploymentId: 999_999_999 })).rejects.toMatchObject(MASKED);
  await expect(client.deleteDeployment({ deploymentId: other.id })).rejects.toMatchObject(MASKED);
});

test('a scoped key cannot change anything of the whole account', async () => {
  const { id } = await world.deployment();
  const { client } = await world.person({ roles: ['Admin'], deploymentIds: [id] });
  const username = unique('eve');
  const user = client.createUser({ body: { username, email: `${username}@example.com` } });
  await expect(user).rejects.toMatchObject(MASKED);
});

test('a scoped key can manage only keys inside of its own scope', async () => {
  const [mine, other] = [await world.deployment(), await world.deployment()];
  const { client } = await world.person({ roles: ['Admin'], deploymentIds: [mine.id] });
  const own = await client.createApiKey({ body: { name: 'narrow', deploymentIds: [mine.id] } });
  expect(own.deploymentIds).toEqual([mine.id]);
  for (const deploymentIds of [undefined, null, [other.id], [mine.id, other.id]]) {
    await expect(client.createApiKey({ body: { name: 'wide', deploymentIds } })).rejects.toMatchObject(
      MASKED,
    );
  }
  await expect(client.updateApiKey({ id: own.id, body: { deploymentIds: null } })).rejects.toMatchObject(
    MASKED,
  );

  const wide = await world.admin.createApiKey({ body: { name: 'of the account' } });
  const missing = { status: 404, code: 'api_key_not_found' };
  await expect(client.getApiKey({ id: wide.id })).rejects.toMatchObject(missing);
  await expect(client.updateApiKey({ id: wide.id, body: { name: 'taken' } })).rejects.toMatchObject(missing);
  await expect(client.deleteApiKey({ id: wide.id })).rejects.toMatchObject(missing);
  const visible = (await client.listApiKeys()).items;
  expect(visible.every(({ deploymentIds }) => deploymentIds?.every((id) => id === mine.id))).toBe(true);
  await client.deleteApiKey({ id: own.id });
});

test('a key scoped to one deployment does not reach a key scoped to that and another one, and that one manages it', async () => {
  const [a, b, c] = [await world.deployment(), await world.deployment(), await world.deployment()];
  const { userId } = await world.person({ roles: ['Admin'] });
  const keyFor = async (client: World['admin'], deploymentIds: number[]) => {
    const made = await client.createApiKey({ body: { name: 'scoped', userId, deploymentIds } });
    return { id: made.id, client: world.client(made.key) };
  };
  const wide = await keyFor(world.admin, [a.id, b.id]);
  const narrow = await keyFor(wide.client, [a.id]);
  const missing = { status: 404, code: 'api_key_not_found' };
  for (const attempt of [
    () => narrow.client.getApiKey({ id: wide.id }),
    () => narrow.client.updateApiKey({ id: wide.id, body: { name: 'taken' } }),
    () => narrow.client.updateApiKey({ id: wide.id, body: { deploymentIds: [a.id] } }),
    () => narrow.client.deleteApiKey({ id: wide.id }),
    () => narrow.client.deleteMyApiKey({ id: wide.id }),
  ])
    await expect(attempt()).rejects.toMatchObject(missing);
  for (const list of [await narrow.client.listApiKeys(), await narrow.client.listMyApiKeys()])
    expect(list.items.map(({ id }) => id)).toEqual([narrow.id]);
  for (const deploymentIds of [null, [b.id], [a.id, b.id]]) {
    const widened = narrow.client.updateApiKey({ id: narrow.id, body: { deploymentIds } });
    await expect(widened).rejects.toMatchObject(MASKED);
  }
  for (const deploymentIds of [null, [a.id, c.id], [c.id]]) {
    const widened = wide.client.updateApiKey({ id: narrow.id, body: { deploymentIds } });
    await expect(widened).rejects.toMatchObject(MASKED);
  }
  const moved = await wide.client.updateApiKey({ id: narrow.id, body: { deploymentIds: [b.id] } });
  expect(moved.deploymentIds).toEqual([b.id]);
  await wide.client.deleteApiKey({ id: narrow.id });
  expect(await world.admin.getApiKey({ id: wide.id })).toMatchObject({ deploymentIds: [a.id, b.id] });
});

test('a key that expires cannot create or change a key that expires later, and nor can the keys that it creates', async () => {
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const ends = { soon: at(1), later: at(2) };
  const { userId } = await world.person({ roles: ['Admin'] });
  const keyThatEnds = async (client: World['admin'], expiresAt: string) => {
    const made = await client.createApiKey({ body: { name: 'brief', userId, expiresAt } });
    return { id: made.id, expiresAt: made.expiresAt, client: world.client(made.key) };
  };
  const first = await keyThatEnds(world.admin, ends.later);
  const second = await keyThatEnds(first.client, ends.later);
  const third = await keyThatEnds(second.client, ends.soon);
  const forever = await world.admin.createApiKey({ body: { name: 'forever', userId } });
  for (const { client, expiresAt: own } of [first, second, third]) {
    for (const expiresAt of [undefined, null, new Date(Date.parse(own!) + 1).toISOString()])
      await expect(client.createApiKey({ body: { name: 'longer', expiresAt } })).rejects.toMatchObject(
        MASKED,
      );
    for (const { id } of [first, second, third])
      for (const expiresAt of [null, new Date(Date.parse(own!) + 1).toISOString()])
        await expect(client.updateApiKey({ id, body: { expiresAt } })).rejects.toMatchObject(MASKED);
    const rename = client.updateApiKey({ id: forever.id, body: { name: 'mine' } });
    await expect(rename).rejects.toMatchObject(MASKED);
  }
  expect(await world.admin.getApiKey({ id: forever.id })).toMatchObject({ name: 'forever', expiresAt: null });
  const renamed = await third.client.updateApiKey({ id: third.id, body: { name: 'renamed' } });
  expect(renamed).toMatchObject({ name: 'renamed', expiresAt: ends.soon });
  const shortened = await second.client.updateApiKey({ id: second.id, body: { expiresAt: ends.soon } });
  expect(shortened.expiresAt).toBe(ends.soon);
  await expect(
    second.client.updateApiKey({ id: second.id, body: { expiresAt: ends.later } }),
  ).rejects.toMatchObject(MASKED);
  expect(await world.admin.updateApiKey({ id: first.id, body: { expiresAt: null } })).toMatchObject({
    expiresAt: null,
  });
});

test('the iterator returns all keys', async () => {
  for (let i = 0; i < 5; i++) await world.admin.createApiKey({ body: { name: `key ${i}` } });
  const ids: number[] = [];
  for await (const key of world.admin.iterate.listApiKeys({ first: 2 })) ids.push(key.id);
  expect(ids).toEqual((await world.admin.listApiKeys({ first: 1000 })).items.map(({ id }) => id));
  expect(ids.length).toBeGreaterThan(5);
});

test.each([
  [null, null, false],
  [[1], null, false],
  [null, [1], true],
  [[1], [1, 2], false],
  [[1, 3], [1, 2], true],
])('the scope %j is wider than the scope %j: %s', (asked, own, expected) => {
  expect(reachesFurther(asked, own)).toBe(expected);
});

test('everybody lists and revokes their own keys, and no others', async () => {
  const [one, two] = [await world.person(), await world.person()];
  const second = await world.admin.createApiKey({ body: { name: 'second', userId: one.userId } });
  const { items } = await one.client.listMyApiKeys();
  expect(items.map(({ id }) => id)).toEqual([one.apiKeyId, second.id]);
  expect(JSON.stringify(items)).not.toContain('sk-');
  const missing = { status: 404, code: 'api_key_not_found' };
  await expect(one.client.deleteMyApiKey({ id: two.apiKeyId })).rejects.toMatchObject(missing);
  expect(await one.client.deleteMyApiKey({ id: second.id })).toBeUndefined();
  await expect(one.client.deleteMyApiKey({ id: second.id })).rejects.toMatchObject(missing);
  const status = () =>
    world
      .client(second.key)
      .getMe()
      .then(
        () => 200,
        (error) => error.status,
      );
  await expect.poll(status).toBe(401);
  expect(await two.client.getMe()).toMatchObject({ id: two.userId });
});

test('a scoped key sees and revokes only own keys within its scope', async () => {
  const { id } = await world.deployment();
  const { client, userId, apiKeyId } = await world.person({ deploymentIds: [id] });
  const wide = await world.admin.createApiKey({ body: { name: 'wide', userId } });
  expect((await client.listMyApiKeys()).items.map((key) => key.id)).toEqual([apiKeyId]);
  const attempt = client.deleteMyApiKey({ id: wide.id });
  await expect(attempt).rejects.toMatchObject({ status: 404, code: 'api_key_not_found' });
});
