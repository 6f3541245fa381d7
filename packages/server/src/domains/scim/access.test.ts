/** Who may use SCIM, and whom it cannot reach. In a world of its own, because the last admin is part of it. */
import { isAudited, type Operation, operations } from '@oriel/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUser, GROUP, patchOf, type ScimClient, scimClient } from '../../../test/scim.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let scim: ScimClient;
beforeAll(async () => {
  world = await createOwnWorld();
  scim = scimClient(world);
});
afterAll(() => world.stop());

const groupOf = async (members: object[] = []) =>
  (await scim('POST', '/Groups', { schemas: [GROUP], displayName: unique('group'), members })).body;

const writes = (Object.values(operations) as Operation[]).filter(
  (op) => op.path.startsWith('/api/scim/') && isAudited(op),
);

test('there are eight operations that change users and groups', () => {
  expect(writes).toHaveLength(8);
});

test.each(writes.map((op) => [op.id, op]))(
  'a key that is scoped to deployments cannot call %s',
  async (_, op) => {
    const { id: deploymentId } = await world.deployment();
    const { apiKey } = await world.person({ roles: ['Admin'], deploymentIds: [deploymentId] });
    const scoped = scimClient(world, `Bearer ${apiKey}`);
    const { id } = op.path.includes('Users') ? await createUser(scim) : await groupOf();
    const path = op.path.replace('/api/scim/v2', '').replace('{id}', id);
    const { status, headers } = await scoped(op.method, path, op.method === 'DELETE' ? undefined : {});
    expect([status, headers.get('x-error-code')]).toEqual([403, 'outside_key_scope']);
    expect((await scoped('GET', '/Users')).status).toBe(200);
  },
);

test('an external viewer is no user of SCIM, and no member of its groups', async () => {
  const { id: deploymentId } = await world.deployment();
  await world.embedded({ deploymentId, externalId: 'viewer' });
  const [{ id }] = (
    await world.server.db.pool.query("select id::text from users where external_id = 'viewer'")
  ).rows;
  expect((await scim('GET', `/Users/${id}`)).status).toBe(404);
  expect((await scim('DELETE', `/Users/${id}`)).status).toBe(404);
  const refused = [400, 'invalidValue'];
  const member = [{ value: id }];
  const created = await scim('POST', '/Groups', {
    schemas: [GROUP],
    displayName: unique('group'),
    members: member,
  });
  expect([created.status, created.body.scimType]).toEqual(refused);
  const group = await groupOf();
  const added = await scim(
    'PATCH',
    `/Groups/${group.id}`,
    patchOf({ op: 'add', path: 'members', value: member }),
  );
  expect([added.status, added.body.scimType]).toEqual(refused);
  expect((await scim('GET', `/Groups/${group.id}`)).body.members).toEqual([]);
});

test('the last admin cannot be deactivated or deleted', async () => {
  const { id } = await world.admin.getMe();
  const { items } = await world.admin.listUsers({ role: 'Admin', state: 'active' });
  for (const other of items) if (other.id !== id) await scim('DELETE', `/Users/${other.id}`);
  const deactivate = patchOf({ op: 'replace', value: { active: false } });
  expect((await scim('PATCH', `/Users/${id}`, deactivate)).status).toBe(409);
  expect((await scim('DELETE', `/Users/${id}`)).status).toBe(409);
  expect((await scim('GET', `/Users/${id}`)).body.active).toBe(true);
  const second = await createUser(scim);
  await world.admin.updateUser({ id: Number(second.id), body: { roles: ['Admin'] } });
  expect((await scim('PATCH', `/Users/${second.id}`, deactivate)).body.active).toBe(false);
});
