import type { OrielClient } from '@oriel/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';

/** Each test has its own account, because it depends on all admins of the account. */
let world: World;
let adminId: number;
beforeEach(async () => {
  world = await createOwnWorld();
  adminId = (await world.admin.getMe()).id;
});
afterEach(() => world.stop());

const LAST = { status: 409, code: 'last_admin' };

/** Every way to take the action All from a user. */
const waysToDemote: [string, (client: OrielClient, id: number) => Promise<unknown>][] = [
  ['being deactivated', (client, id) => client.updateUser({ id, body: { isDeactivated: true } })],
  ['isAdmin: false', (client, id) => client.updateUser({ id, body: { isAdmin: false } })],
  ['other roles', (client, id) => client.updateUser({ id, body: { roles: ['Developer'] } })],
  ['being deleted', (client, id) => client.deleteUser({ id })],
  ['a bulk deactivation', (client, id) => inBulk(client, 'DEACTIVATE', id)],
  ['a bulk deletion', (client, id) => inBulk(client, 'DELETE', id)],
];

/** Fails as the operation for a single user does. */
async function inBulk(client: OrielClient, action: 'DEACTIVATE' | 'DELETE', id: number) {
  const { failed } = await client.bulkUserAction({ body: { action, userIds: [id] } });
  const [failure] = failed;
  if (failure) throw { ...failure.error, code: failure.error.status === 409 ? 'last_admin' : 'other' };
}

const countActiveAdmins = async () =>
  Number(
    (
      await world.server.db.pool.query(
        `select count(distinct u.id) from users u join user_roles ur on ur.user_id = u.id join roles r on r.id = ur.role_id
         where not u.is_deactivated and 'All' = any(r.actions)`,
      )
    ).rows[0].count,
  );

test('the last active admin cannot lose the action All', async () => {
  const idle = await world.person({ roles: ['Admin'] });
  await world.admin.updateUser({ id: idle.userId, body: { isDeactivated: true } });
  for (const [, demote] of waysToDemote)
    await expect(demote(world.admin, adminId)).rejects.toMatchObject(LAST);
  expect(await world.admin.getMe()).toMatchObject({ roles: ['Admin'], isDeactivated: false });
});

test('the last admin can be changed in every other way', async () => {
  const body = { roles: ['Admin', 'Viewer'], isDeactivated: false, isAdmin: true, firstName: 'Ada' };
  expect(await world.admin.updateUser({ id: adminId, body })).toMatchObject({ roles: ['Admin', 'Viewer'] });
});

test('a user with another role that has the action All is an admin too', async () => {
  await world.admin.createRole({ body: { name: 'Owner', actions: ['All'] } });
  const owner = await world.person({ roles: ['Owner'] });
  expect(await owner.client.updateUser({ id: adminId, body: { isAdmin: false } })).toMatchObject({
    isAdmin: false,
  });
  await expect(owner.client.deleteUser({ id: owner.userId })).rejects.toMatchObject(LAST);
});

/** Starts all calls, and lets none end before all have made their change. */
async function atOnce(changes: (() => Promise<unknown>)[]) {
  const gate = await world.server.db.pool.connect();
  await gate.query('begin');
  await gate.query(`select from roles where name = 'Admin' for no key update`);
  const outcomes = changes.map((change) =>
    change().then(
      () => 'done',
      (error) => error.code,
    ),
  );
  const waiting = `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  // Does not use the gate, because pg_stat_activity does not change within one transaction.
  const { pool } = world.server.db;
  await expect.poll(async () => (await pool.query(waiting)).rows[0].count).toBe(changes.length);
  await gate.query('commit');
  gate.release();
  return (await Promise.all(outcomes)).sort();
}

test.each(waysToDemote)(
  'if two admins do this to each other at once, one stays an admin: %s',
  async (_, demote) => {
    const other = await world.person({ roles: ['Admin'] });
    await other.client.getMe();
    const outcomes = await atOnce([
      () => demote(world.admin, other.userId),
      () => demote(other.client, adminId),
    ]);
    expect(outcomes).toEqual(['done', 'last_admin']);
    expect(await countActiveAdmins()).toBe(1);
  },
);

test('if two admins delete and deactivate all admins in bulk at once, one stays an admin', async () => {
  const other = await world.person({ roles: ['Admin'] });
  await other.client.getMe();
  const userIds = [adminId, other.userId];
  const failures = async (action: 'DEACTIVATE' | 'DELETE', client: OrielClient) =>
    (await client.bulkUserAction({ body: { action, userIds } })).failed.map(({ error }) => error.status);
  const [one, two] = await Promise.all([
    failures('DELETE', world.admin),
    failures('DEACTIVATE', other.client).catch((error) => [error.status]),
  ]);
  expect([...one, ...two]).toContain(409);
  expect(await countActiveAdmins()).toBe(1);
});

test('if a role loses the action All while the other admin is deleted, one admin stays', async () => {
  const { id } = await world.admin.createRole({ body: { name: 'Owner', actions: ['All'] } });
  const owner = await world.person({ roles: ['Owner'] });
  await owner.client.getMe();
  const outcomes = await atOnce([
    () => world.admin.updateRole({ id, body: { actions: [] } }),
    () => owner.client.deleteUser({ id: adminId }),
  ]);
  expect(outcomes).toEqual(['done', 'last_admin']);
  expect(await countActiveAdmins()).toBe(1);
});

test('if many admins are all demoted at once, in every way, one stays an admin', async () => {
  const others = await Promise.all(Array.from({ length: 7 }, () => world.person({ roles: ['Admin'] })));
  const ids = [adminId, ...others.map(({ userId }) => userId)];
  const outcomes = await Promise.all(
    ids.map((id, i) =>
      waysToDemote[i % waysToDemote.length]![1](world.admin, id).then(
        () => 'done',
        (error) => error.code,
      ),
    ),
  );
  expect(outcomes).toContain('done');
  expect(await countActiveAdmins()).toBeGreaterThanOrEqual(1);
});
