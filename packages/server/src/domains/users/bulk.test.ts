import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const MISSING = 999_999_999;
type Body = Parameters<World['admin']['bulkUserAction']>[0]['body'];
const bulk = (body: Body) => world.admin.bulkUserAction({ body });
const somebody = async (count: number) => Promise.all(Array.from({ length: count }, () => world.person()));
const idsOf = (list: { userId: number }[]) => list.map(({ userId }) => userId);

const auditOf = async (userIds: number[]) =>
  (
    await world.server.db.pool.query(
      `select resource_id::bigint as "userId", before, after from audit_log
       where operation = 'bulkUserAction' and resource_type = 'user' and resource_id = any($1) order by id`,
      [userIds.map(String)],
    )
  ).rows;

test('users are deactivated and activated, and keys stop and work again', async () => {
  const list = await somebody(2);
  const userIds = idsOf(list);
  const status = () =>
    list[0]!.client.getMe().then(
      () => 200,
      (error) => error.status,
    );
  expect(await status()).toBe(200);
  expect(await bulk({ action: 'DEACTIVATE', userIds })).toEqual({
    action: 'DEACTIVATE',
    succeeded: userIds,
    failed: [],
  });
  await expect.poll(status).toBe(401);
  for (const id of userIds)
    expect(await world.admin.getUser({ id })).toMatchObject({ isDeactivated: true, roles: ['Viewer'] });
  expect(await bulk({ action: 'ACTIVATE', userIds })).toMatchObject({ succeeded: userIds, failed: [] });
  await expect.poll(status).toBe(200);
});

test('on every server, keys and embed tokens of a deactivated user end within a second', async () => {
  const another = await world.anotherServer();
  const person = await world.person();
  const { username } = await world.admin.getUser({ id: person.userId });
  await world.admin.updateUser({ id: person.userId, body: { roles: ['Explorer'] } });
  const { token } = await world.embedded({ deploymentId, internalId: username });
  const statuses = async () => {
    const calls = [world.url, another.url].flatMap((url) => [
      fetch(`${url}/api/v1/users/me`, { headers: { authorization: `Api-Key ${person.apiKey}` } }),
      fetch(`${url}/api/v1/embed/session`, { headers: { authorization: `Bearer ${token}` } }),
    ]);
    return (await Promise.all(calls)).map(({ status }) => status).join();
  };
  expect(await statuses()).toBe('200,200,200,200');
  await bulk({ action: 'DEACTIVATE', userIds: [person.userId] });
  await expectWithinASecond(statuses, '401,401,401,401');
});

test('a user who fails is reported with the reason, and the others change', async () => {
  const [owner, other] = await somebody(2);
  await world.server.db.pool.query(
    `insert into workbooks (deployment_id, name, name_key, user_id) values ($1, 'W', 'w', $2)`,
    [deploymentId, owner!.userId],
  );
  const userIds = [owner!.userId, MISSING, other!.userId];
  expect(await bulk({ action: 'DELETE', userIds })).toEqual({
    action: 'DELETE',
    succeeded: [other!.userId],
    failed: [
      { userId: owner!.userId, error: { status: 409, message: expect.stringContaining('newOwnerId') } },
      { userId: MISSING, error: { status: 404, message: 'There is no such user.' } },
    ],
  });
  expect(await owner!.client.getMe()).toMatchObject({ id: owner!.userId });
  await expect(world.admin.getUser({ id: other!.userId })).rejects.toMatchObject({ status: 404 });
  expect(await auditOf(userIds)).toMatchObject([{ userId: other!.userId, after: null }]);
});

test('the content of all deleted users goes to the new owner, also if there is much of it', async () => {
  const [one, two, heir] = await somebody(3);
  const userIds = [one!.userId, two!.userId];
  for (const userId of userIds) {
    await world.server.db.pool.query(
      `insert into reports (deployment_id, public_id, name, name_key, search_text, user_id)
       select $1, gen_random_uuid(), 'R', 'r', 'r', $2 from generate_series(1, 700)`,
      [deploymentId, userId],
    );
  }
  const newOwnerId = heir!.userId;
  expect(await bulk({ action: 'DELETE', userIds, newOwnerId })).toMatchObject({ succeeded: userIds });
  /** How many reports of the new owner each transaction moved. The users of the request have one each. */
  const moved = async () =>
    (
      await world.server.db.pool.query(
        'select count(*)::int from reports where user_id = $1 group by xmin::text order by 1',
        [newOwnerId],
      )
    ).rows.map(({ count }) => count);
  // The request itself hands over 1000 rows, for all users together.
  await expect.poll(moved).toEqual([300, 400, 700]);
});

test('a new owner who is deleted in the same request keeps everything', async () => {
  const [one, heir] = await somebody(2);
  const newOwnerId = heir!.userId;
  const userIds = [newOwnerId, one!.userId];
  expect(await bulk({ action: 'DELETE', userIds, newOwnerId })).toMatchObject({
    succeeded: [one!.userId],
    failed: [{ userId: newOwnerId, error: { status: 400 } }],
  });
});

test('a new owner who does not exist, or is not active, or is not needed, is refused, and nobody changes', async () => {
  const [one, idle] = await somebody(2);
  await world.admin.updateUser({ id: idle!.userId, body: { isDeactivated: true } });
  const userIds = [one!.userId];
  for (const newOwnerId of [MISSING, idle!.userId]) {
    const attempt = bulk({ action: 'DELETE', userIds, newOwnerId });
    await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_reference' });
  }
  const needless = bulk({ action: 'DEACTIVATE', userIds, newOwnerId: idle!.userId });
  await expect(needless).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await world.admin.getUser({ id: one!.userId })).toMatchObject({ isDeactivated: false });
});

test('a user who is named twice, or has the state already, succeeds once and leaves one audit entry', async () => {
  const [one] = await somebody(1);
  const userIds = [one!.userId, one!.userId];
  expect(await bulk({ action: 'DEACTIVATE', userIds })).toMatchObject({
    succeeded: [one!.userId],
    failed: [],
  });
  expect(await bulk({ action: 'DEACTIVATE', userIds })).toMatchObject({
    succeeded: [one!.userId],
    failed: [],
  });
  expect(await auditOf(userIds)).toMatchObject([
    { before: { isDeactivated: false }, after: { isDeactivated: true } },
  ]);
});

test('users are locked in the order of their ids, whatever the order of the request', async () => {
  const [lower, higher] = idsOf(await somebody(2)).toSorted((a, b) => a - b);
  const { pool } = world.server.db;
  const holder = await pool.connect();
  await holder.query('begin');
  await holder.query('select from users where id = $1 for update', [lower]);
  const done = bulk({ action: 'DEACTIVATE', userIds: [higher!, lower!] });
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
  // A request that held one of them while it waits for the other could block a request that does the opposite.
  await pool.query('select from users where id = $1 for update nowait', [higher]);
  await holder.query('commit');
  holder.release();
  expect((await done).succeeded).toEqual([higher, lower]);
});

test.each<[string, object]>([
  ['no users', { action: 'DELETE', userIds: [] }],
  ['101 users', { action: 'DELETE', userIds: Array.from({ length: 101 }, (_, i) => i + 1) }],
  ['another action', { action: 'PROMOTE', userIds: [1] }],
  ['an action in lower case', { action: 'delete', userIds: [1] }],
  ['a user that is no id', { action: 'DELETE', userIds: ['1'] }],
  ['roles', { action: 'ACTIVATE', userIds: [1], roles: ['Admin'] }],
])('bad input is refused: %s', async (_, body) => {
  await expect(bulk(body as Body)).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
});
