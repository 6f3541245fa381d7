import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const MISSING = { status: 404, code: 'user_not_found' };
const OWNS = { status: 409, code: 'user_owns_content' };
const TABLES = ['folders', 'workbooks', 'reports'] as const;
type Table = (typeof TABLES)[number];

const query = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

/** For each table, inserts one row that the user owns. */
const content: Record<Table, (userId: number) => Promise<unknown>> = {
  folders: (userId) =>
    query(
      `insert into folders (deployment_id, path, shown_path, name, name_key, position, user_id, created_by)
       values ($1, '{}', '{}', 'F', 'f', 1, $2, $2)`,
      [deploymentId, userId],
    ),
  workbooks: (userId) =>
    query(
      `insert into workbooks (deployment_id, name, name_key, user_id, created_by) values ($1, 'W', 'w', $2, $2)`,
      [deploymentId, userId],
    ),
  reports: (userId) =>
    query(
      `insert into reports (deployment_id, public_id, name, name_key, search_text, user_id, created_by)
       values ($1, gen_random_uuid(), 'R', 'r', 'r', $2, $2)`,
      [deploymentId, userId],
    ),
};

const owned = async (userId: number) => {
  const counts: Record<string, number> = {};
  for (const table of TABLES)
    counts[table] = (await query(`select from ${table} where user_id = $1`, [userId])).length;
  return counts;
};

const exists = async (userId: number) =>
  (await query('select from users where id = $1 and deleted_at is null', [userId])).length === 1;

test('deleting a user deletes their keys, roles and memberships', async () => {
  const person = await world.person();
  const { id: groupId } = await world.admin.createUserGroup({ body: { name: 'of the one who goes' } });
  await world.admin.addUserGroupMembers({ id: groupId, body: { userIds: [person.userId] } });
  await person.client.getMe();
  expect(await world.admin.deleteUser({ id: person.userId })).toBeUndefined();
  await expect.poll(() => person.client.getMe().catch((error) => error.status)).toBe(401);
  await expect(world.admin.getApiKey({ id: person.apiKeyId })).rejects.toMatchObject({ status: 404 });
  expect(await world.admin.getUserGroup({ id: groupId })).toMatchObject({ userCount: 0 });
  expect(await query('select from user_roles where user_id = $1', [person.userId])).toEqual([]);
  await expect(world.admin.deleteUser({ id: person.userId })).rejects.toMatchObject(MISSING);
  await expect(world.admin.updateUser({ id: person.userId, body: {} })).rejects.toMatchObject(MISSING);
});

test('the name and email of a deleted user are free again', async () => {
  const body = { username: 'phoenix', email: 'phoenix@example.com' };
  const { id } = await world.admin.createUser({ body });
  await world.admin.deleteUser({ id });
  expect(await world.admin.createUser({ body })).toMatchObject(body);
});

test.each(TABLES)('a user who owns %s cannot be deleted without a new owner', async (table) => {
  const { userId, client } = await world.person();
  await content[table](userId);
  await expect(world.admin.deleteUser({ id: userId })).rejects.toMatchObject(OWNS);
  expect(await client.getMe()).toMatchObject({ id: userId });
  expect(await owned(userId)).toMatchObject({ [table]: 1 });
});

test('the new owner gets exactly the content of the deleted user', async () => {
  const [leaving, heir, other] = [await world.person(), await world.person(), await world.person()];
  for (const table of TABLES) for (const { userId } of [leaving, other]) await content[table](userId);
  await content.reports(leaving.userId);
  await world.admin.deleteUser({ id: leaving.userId, newOwnerId: heir.userId });
  expect(await exists(leaving.userId)).toBe(false);
  expect(await owned(heir.userId)).toEqual({ folders: 1, workbooks: 1, reports: 2 });
  expect(await owned(other.userId)).toEqual({ folders: 1, workbooks: 1, reports: 1 });
  const made = () => query('select created_by from reports where user_id = $1', [heir.userId]);
  await expect.poll(made).toEqual([{ created_by: null }, { created_by: null }]);
  await expect.poll(() => query('select from users where id = $1', [leaving.userId])).toEqual([]);
});

test('a new owner may be named even if the user owns nothing', async () => {
  const [leaving, heir] = [await world.person(), await world.person()];
  await world.admin.deleteUser({ id: leaving.userId, newOwnerId: heir.userId });
  expect(await exists(leaving.userId)).toBe(false);
});

test('the new owner must be another, active user', async () => {
  const [leaving, idle] = [await world.person(), await world.person()];
  await world.admin.updateUser({ id: idle.userId, body: { isDeactivated: true } });
  await content.folders(leaving.userId);
  for (const newOwnerId of [leaving.userId, idle.userId, 999_999_999]) {
    const attempt = world.admin.deleteUser({ id: leaving.userId, newOwnerId });
    await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_reference' });
  }
  expect(await owned(leaving.userId)).toMatchObject({ folders: 1 });
});

test.each(['abc', '0', '-1', '1.5', '9007199254740993'])(
  '%s is not accepted as a new owner',
  async (newOwnerId) => {
    const { userId } = await world.person();
    const response = await world.raw('DELETE', `/api/v1/users/${userId}?newOwnerId=${newOwnerId}`);
    expect(response.status).toBe(400);
    expect(await exists(userId)).toBe(true);
  },
);

test.each(['', 'null'])('a new owner of "%s" counts as not given', async (newOwnerId) => {
  const { userId } = await world.person();
  await content.folders(userId);
  const response = await world.raw('DELETE', `/api/v1/users/${userId}?newOwnerId=${newOwnerId}`);
  expect(response.status).toBe(409);
});

test('a user who does not exist is not found, with any new owner', async () => {
  const { userId } = await world.person();
  await expect(world.admin.deleteUser({ id: 999_999_999 })).rejects.toMatchObject(MISSING);
  const attempt = world.admin.deleteUser({ id: 999_999_999, newOwnerId: userId });
  await expect(attempt).rejects.toMatchObject(MISSING);
});

test('two users who are each the new owner of the other are not both deleted', async () => {
  const [one, two] = [await world.person(), await world.person()];
  for (const { userId } of [one, two]) await content.reports(userId);
  const attempt = (id: number, newOwnerId: number) =>
    world.admin.deleteUser({ id, newOwnerId }).then(
      () => 'deleted',
      (error) => error.code,
    );
  const outcomes = await Promise.all([attempt(one.userId, two.userId), attempt(two.userId, one.userId)]);
  expect(outcomes.sort()).toEqual(['deleted', 'invalid_reference']);
  const heir = (await exists(one.userId)) ? one : two;
  expect(await owned(heir.userId)).toMatchObject({ reports: 2 });
});

test('if many calls delete a user in parallel, one succeeds', async () => {
  const { userId } = await world.person();
  const attempts = Array.from({ length: 8 }, () =>
    world.admin.deleteUser({ id: userId }).then(
      () => 'deleted',
      (error) => error.code,
    ),
  );
  const outcomes = (await Promise.all(attempts)).sort();
  expect(outcomes).toEqual(['deleted', ...Array(7).fill('user_not_found')].sort());
});

test('an admin may delete themselves if there is another admin', async () => {
  const { client, userId } = await world.person({ roles: ['Admin'] });
  await client.deleteUser({ id: userId });
  expect(await exists(userId)).toBe(false);
});

test('the audit log shows who was deleted and who got the content', async () => {
  const [leaving, heir] = [await world.person(), await world.person()];
  await content.folders(leaving.userId);
  await content.reports(leaving.userId);
  await world.admin.deleteUser({ id: leaving.userId, newOwnerId: heir.userId });
  const rows = await query(
    `select resource_id, before, after from audit_log where operation = 'deleteUser' order by id desc limit 2`,
  );
  expect(rows).toMatchObject([
    { resource_id: String(leaving.userId), before: { id: leaving.userId, roles: ['Viewer'] }, after: null },
    {
      resource_id: String(heir.userId),
      after: { receivedContentOf: leaving.userId },
    },
  ]);
});

test('only admins can delete users; users cannot delete themselves', async () => {
  const { client, userId } = await world.person({ roles: ['Developer'] });
  await expect(client.deleteUser({ id: userId })).rejects.toMatchObject({ status: 403, code: 'forbidden' });
});

test('a scoped key cannot delete users', async () => {
  const { client, userId } = await world.person({ roles: ['Admin'], deploymentIds: [deploymentId] });
  await expect(client.deleteUser({ id: userId })).rejects.toMatchObject({
    status: 403,
    code: 'outside_key_scope',
  });
});
