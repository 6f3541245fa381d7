/**
 * Sharing reveals no email and no role to a caller who may not list people and roles, but the names of people and
 * groups.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type Person, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
/** Owns the shared reports, and may not list people, groups or roles. */
let owner: Person;
let other: Person;
let group: { id: number; name: string };
let role: { id: number; name: string };
let report: { resourceType: 'Report'; resourceId: number };
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
  owner = await world.person({ roles: ['Explorer'] });
  other = await world.person({ roles: ['Viewer'] });
  await world.admin.updateUser({ id: other.userId, body: { firstName: 'Greta' } });
  group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  role = await world.admin.createRole({ body: { name: unique('role'), actions: ['DeploymentRead'] } });
});
beforeEach(async () => {
  const { id } = await owner.client.createReport({ deploymentId, body: {} });
  report = { resourceType: 'Report', resourceId: id };
});
afterAll(() => world.stop());

const UNKNOWN = 999_999_999;
const action = 'ReportRead' as const;
type Client = World['admin'];

const setters = {
  users: (by: Client, id = other.userId, given: typeof action | null = action) =>
    by.setUserPolicy({ body: { ...report, userId: id, action: given } }),
  groups: (by: Client, id = group.id, given: typeof action | null = action) =>
    by.setGroupPolicy({ body: { ...report, groupId: id, action: given } }),
  roles: (by: Client, id = role.id, given: typeof action | null = action) =>
    by.setRolePolicy({ body: { ...report, roleId: id, action: given } }),
};
const unnamed = () => ({
  users: [
    { userId: other.userId, email: null, firstName: 'Greta', picture: null, action, inheritedFrom: null },
  ],
  groups: [{ groupId: group.id, name: group.name, action, inheritedFrom: null }],
  roles: [{ roleId: role.id, name: null, action, inheritedFrom: null }],
});
const emailOf = async ({ client }: Person) => (await client.getMe()).email;

describe.each(['users', 'groups', 'roles'] as const)('sharing with %s', (kind) => {
  const set = setters[kind];
  const named = async () => ({
    users: [{ ...unnamed().users[0], email: await emailOf(other), firstName: 'Greta' }],
    groups: [{ ...unnamed().groups[0], name: group.name }],
    roles: [{ ...unnamed().roles[0], name: role.name }],
  });

  test('by id works, and never shows a name', async () => {
    expect((await set(owner.client))[kind]).toEqual(unnamed()[kind]);
    expect((await set(owner.client))[kind]).toEqual(unnamed()[kind]);
    expect((await owner.client.getResourcePolicies(report))[kind]).toEqual(unnamed()[kind]);
  });

  test('shows the name to a caller who may list them', async () => {
    await set(owner.client);
    expect((await world.admin.getResourcePolicies(report))[kind]).toEqual((await named())[kind]);
  });

  test('shows the name to all who manage the report if a caller who may list them has shared it', async () => {
    await set(owner.client);
    await set(world.admin);
    const expected = (await named())[kind];
    expect((await owner.client.getResourcePolicies(report))[kind]).toEqual(expected);
    expect((await set(owner.client))[kind]).toEqual(expected);
    await set(owner.client, undefined, null);
    expect((await set(owner.client))[kind]).toEqual(unnamed()[kind]);
  });

  test('that do not exist is the same error as with those of an embed tenant', async () => {
    await world.server.db.pool.query(
      `insert into embed_tenants (name) values ('names-test') on conflict do nothing`,
    );
    const insert = {
      users: `insert into users (embed_tenant, external_id, username) values ('names-test', $1, $1) returning id`,
      groups: `insert into user_groups (embed_tenant, name) values ('names-test', $1) returning id`,
      // No role belongs to an embed tenant.
      roles: null,
    }[kind];
    const { rows } = insert
      ? await world.server.db.pool.query(insert, [unique('viewer')])
      : { rows: [{ id: UNKNOWN - 1 }] };
    const refusals = [];
    for (const id of [UNKNOWN, Number(rows[0].id)]) {
      const { status, code, message } = await set(owner.client, id).catch((error) => error);
      refusals.push({ status, code, message });
    }
    expect(refusals[0]).toEqual(refusals[1]);
    expect(refusals[0]).toMatchObject({ status: 400, code: 'invalid_reference' });
    expect((await set(owner.client, UNKNOWN, null))[kind]).toEqual([]);
  });
});

test('an inherited policy shows no name that the folder does not show', async () => {
  const folder = await owner.client.createFolder({ deploymentId, body: { name: 'shared' } });
  const { id } = await owner.client.createReport({ deploymentId, body: { folderId: folder.id } });
  const body = { resourceType: 'Folder', resourceId: folder.id, userId: other.userId } as const;
  await owner.client.setUserPolicy({ body: { ...body, action: 'FolderRead' } });
  const { users } = await owner.client.getResourcePolicies({ resourceType: 'Report', resourceId: id });
  expect(users).toMatchObject([{ userId: other.userId, email: null }]);
});

test('a caller sees their own name', async () => {
  const { users } = await setters.users(owner.client, owner.userId);
  expect(users).toMatchObject([{ userId: owner.userId, email: await emailOf(owner) }]);
});

test('reports do not show the names of roles that they were shared with by id', async () => {
  await setters.roles(owner.client);
  const one = { deploymentId, reportId: report.resourceId };
  const seenBy = async (client: Client) => {
    const [single, list, workspace] = await Promise.all([
      client.getReport(one),
      client.getReports({ deploymentId, first: 1000 }),
      client.workspaceObjects({ deploymentId, first: 1000, types: ['REPORT'] }),
    ]);
    const listed = [...list.items, ...workspace.items].filter(({ id }) => id === report.resourceId);
    return [single, ...listed].map((item) => (item as typeof single).rolesWithAccess);
  };
  const shown = [{ id: role.id, name: role.name, actions: [action] }];
  expect(await seenBy(owner.client)).toEqual([[], [], []]);
  expect(await seenBy(world.admin)).toEqual([shown, shown, shown]);
  await setters.roles(world.admin);
  expect(await seenBy(owner.client)).toEqual([shown, shown, shown]);
});
