import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const UNKNOWN = 999_999_999;
const MISSING = { status: 404, code: 'role_not_found' };

const newRole = (changes: object = {}) =>
  world.admin.createRole({ body: { name: unique('role'), actions: ['DeploymentRead'], ...changes } });

const countRoles = async () =>
  Number((await world.server.db.pool.query('select count(*) from roles')).rows[0].count);

test('a role is created, found, listed, changed and deleted', async () => {
  const name = unique('Analyst 📊');
  const body = { name, description: 'Looks closely', actions: ['ReportRead', 'DownloadData'] as const };
  const created = await world.admin.createRole({ body: { ...body, actions: [...body.actions] } });
  expect(created).toEqual({ id: created.id, ...body, isBuiltIn: false });
  expect(await world.admin.getRole({ id: created.id })).toEqual(created);
  expect((await world.admin.listRoles({ first: 1000 })).items).toContainEqual(created);

  const renamed = await world.admin.updateRole({ id: created.id, body: { name: `${name}!` } });
  expect(renamed).toEqual({ ...created, name: `${name}!` });
  const changed = await world.admin.updateRole({ id: created.id, body: { actions: [], description: null } });
  expect(changed).toEqual({ ...renamed, actions: [], description: null });
  expect(await world.admin.updateRole({ id: created.id, body: {} })).toEqual(changed);

  expect(await world.admin.deleteRole({ id: created.id })).toBeUndefined();
  await expect(world.admin.getRole({ id: created.id })).rejects.toMatchObject(MISSING);
  await expect(world.admin.deleteRole({ id: created.id })).rejects.toMatchObject(MISSING);
});

test('a description is optional', async () => {
  expect(await newRole()).toMatchObject({ description: null });
  expect(await newRole({ description: null })).toMatchObject({ description: null });
});

test('a new installation has the built-in roles', async () => {
  const { items } = await world.admin.listRoles({ first: 4 });
  expect(items.map(({ name, isBuiltIn }) => [name, isBuiltIn])).toEqual([
    ['Viewer', true],
    ['Explorer', true],
    ['Developer', true],
    ['Admin', true],
  ]);
  expect(items[0]!.actions).toEqual(['DeploymentRead', 'AIBIView']);
  expect(items[3]!.actions).toEqual(['All']);
});

test('built-in roles cannot be changed or deleted', async () => {
  const refused = { status: 409, code: 'role_built_in' };
  for (const role of (await world.admin.listRoles({ first: 4 })).items) {
    const { id } = role;
    await expect(world.admin.updateRole({ id, body: { description: 'mine' } })).rejects.toMatchObject(
      refused,
    );
    await expect(world.admin.updateRole({ id, body: { actions: ['All'] } })).rejects.toMatchObject(refused);
    await expect(world.admin.updateRole({ id, body: {} })).rejects.toMatchObject(refused);
    await expect(world.admin.deleteRole({ id })).rejects.toMatchObject(refused);
    expect(await world.admin.getRole({ id })).toEqual(role);
  }
});

test('nobody can create a built-in role', async () => {
  const attempt = newRole({ isBuiltIn: true });
  await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
});

test('two roles cannot have the same name', async () => {
  const taken = { status: 409, code: 'role_name_taken' };
  const [one, two] = [await newRole(), await newRole()];
  await expect(newRole({ name: one.name })).rejects.toMatchObject(taken);
  await expect(newRole({ name: 'Admin' })).rejects.toMatchObject(taken);
  const rename = (name: string) => world.admin.updateRole({ id: two.id, body: { name } });
  await expect(rename(one.name)).rejects.toMatchObject(taken);
  await expect(rename('Viewer')).rejects.toMatchObject(taken);
  expect(await rename(two.name)).toEqual(two);
});

test('of many parallel calls for one name, one succeeds', async () => {
  const name = unique('wanted');
  const attempts = Array.from({ length: 10 }, () =>
    newRole({ name }).then(
      () => 'created',
      (error) => error.code,
    ),
  );
  const outcomes = (await Promise.all(attempts)).sort();
  expect(outcomes).toEqual(['created', ...Array(9).fill('role_name_taken')].sort());
});

const BAD_FIELDS: [string, object][] = [
  ['an empty name', { name: '' }],
  ['a blank name', { name: ' \u00a0 ' }],
  ['a name of 256 characters', { name: 'x'.repeat(256) }],
  ['a name with a control character', { name: 'a\u0007b' }],
  ['a name with a line break', { name: 'a\nb' }],
  ['a name that is not text', { name: 7 }],
  ['null for a name', { name: null }],
  ['a description of 1001 characters', { description: 'x'.repeat(1001) }],
  ['an unknown action', { actions: ['Fly'] }],
  ['an action in another case', { actions: ['all'] }],
  ['an action twice', { actions: ['ReportRead', 'ReportRead'] }],
  ['null for actions', { actions: null }],
  ['actions that are not a list', { actions: 'All' }],
  ['a field that does not exist', { users: [1] }],
];

test.each<[string, object]>([
  ['no name', { name: undefined }],
  ['no actions', { actions: undefined }],
  ...BAD_FIELDS,
])('bad input is refused: %s', async (_, changes) => {
  const before = await countRoles();
  await expect(newRole(changes)).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await countRoles()).toBe(before);
});

test.each(BAD_FIELDS)('bad input changes nothing: %s', async (_, body) => {
  const role = await newRole();
  const attempt = world.admin.updateRole({ id: role.id, body: body as never });
  await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  expect(await world.admin.getRole({ id: role.id })).toEqual(role);
});

test('a name can have up to 255 characters of any script', async () => {
  const name = '🦉'.repeat(255);
  expect(await newRole({ name })).toMatchObject({ name });
});

test('an id that does not exist is not found', async () => {
  await expect(world.admin.getRole({ id: UNKNOWN })).rejects.toMatchObject(MISSING);
  await expect(world.admin.updateRole({ id: UNKNOWN, body: {} })).rejects.toMatchObject(MISSING);
  await expect(world.admin.deleteRole({ id: UNKNOWN })).rejects.toMatchObject(MISSING);
});

test('only admins can see and change roles', async () => {
  const { id } = await newRole();
  const { client } = await world.person({ roles: ['Developer'] });
  const forbidden = { status: 403, code: 'forbidden' };
  await expect(client.listRoles()).rejects.toMatchObject(forbidden);
  await expect(client.getRole({ id })).rejects.toMatchObject(forbidden);
  await expect(client.createRole({ body: { name: 'x', actions: ['All'] } })).rejects.toMatchObject(forbidden);
  await expect(client.updateRole({ id, body: { actions: ['All'] } })).rejects.toMatchObject(forbidden);
  await expect(client.deleteRole({ id })).rejects.toMatchObject(forbidden);
});

test('a scoped key can read roles but not change them', async () => {
  const role = await newRole();
  const { id } = await world.deployment();
  const { client } = await world.person({ roles: ['Admin'], deploymentIds: [id] });
  expect(await client.getRole({ id: role.id })).toEqual(role);
  const refused = { status: 403, code: 'outside_key_scope' };
  await expect(client.createRole({ body: { name: 'x', actions: [] } })).rejects.toMatchObject(refused);
  await expect(client.updateRole({ id: role.id, body: {} })).rejects.toMatchObject(refused);
  await expect(client.deleteRole({ id: role.id })).rejects.toMatchObject(refused);
});

test('a change of a role takes effect for keys that are in use', async () => {
  const role = await newRole({ actions: ['All'] });
  const { client } = await world.person({ roles: [role.name] });
  await client.listRoles();
  await world.admin.updateRole({ id: role.id, body: { actions: ['ReportRead'] } });
  await expect.poll(() => client.listRoles().catch((error) => error.status)).toBe(403);
  await world.admin.updateRole({ id: role.id, body: { actions: ['All'] } });
  await expect.poll(() => client.listRoles().then(() => 200)).toBe(200);
  await world.admin.deleteRole({ id: role.id });
  await expect.poll(() => client.listRoles().catch((error) => error.status)).toBe(403);
});

test('people keep a role that is renamed, and lose a role that is deleted', async () => {
  const role = await newRole();
  const { client } = await world.person({ roles: ['Viewer', role.name] });
  const name = unique('Renamed');
  await world.admin.updateRole({ id: role.id, body: { name } });
  // The server hears of changes by others from the database, a moment later.
  const ownRoles = async () => (await client.getMe()).roles;
  await expect.poll(ownRoles).toEqual([name, 'Viewer'].sort());
  await world.admin.deleteRole({ id: role.id });
  await expect.poll(ownRoles).toEqual(['Viewer']);
});

test('the last active admin cannot lose the action All, from any role', async () => {
  const alone = await createOwnWorld();
  const role = await alone.admin.createRole({ body: { name: 'Owner', actions: ['ReportRead', 'All'] } });
  const { id: userId } = await alone.admin.getMe();
  const me = await alone.admin.updateUser({ id: userId, body: { roles: ['Owner'] } });
  expect(me).toMatchObject({ roles: ['Owner'], isAdmin: true });
  const idle = await alone.person({ roles: ['Admin'] });
  await alone.admin.updateUser({ id: idle.userId, body: { isDeactivated: true } });

  const refused = { status: 409, code: 'last_admin' };
  const { id } = role;
  const narrow = () => alone.admin.updateRole({ id, body: { actions: ['ReportRead'] } });
  await expect(narrow()).rejects.toMatchObject(refused);
  await expect(alone.admin.deleteRole({ id })).rejects.toMatchObject(refused);
  expect(await alone.admin.getRole({ id })).toEqual(role);
  expect(await alone.admin.updateRole({ id, body: { name: 'Chief', actions: ['All'] } })).toMatchObject({
    name: 'Chief',
  });

  await alone.admin.updateUser({ id: idle.userId, body: { isDeactivated: false } });
  await narrow();
  await expect.poll(() => alone.admin.listRoles().catch((error) => error.status)).toBe(403);
  await idle.client.deleteRole({ id });
  await alone.stop();
});

test('each change of a role is in the audit log, with before and after', async () => {
  const created = await newRole();
  const changed = await world.admin.updateRole({ id: created.id, body: { actions: ['All'] } });
  await world.admin.deleteRole({ id: created.id });
  const { rows } = await world.server.db.pool.query(
    `select operation, before, after from audit_log
     where resource_type = 'role' and resource_id = $1 order by id`,
    [String(created.id)],
  );
  expect(rows).toEqual([
    { operation: 'createRole', before: null, after: created },
    {
      operation: 'updateRole',
      before: { actions: created.actions },
      after: { actions: changed.actions },
    },
    { operation: 'deleteRole', before: changed, after: null },
  ]);
});

test('the iterator returns all roles, oldest first', async () => {
  for (let i = 0; i < 3; i++) await newRole();
  const ids: number[] = [];
  for await (const role of world.admin.iterate.listRoles({ first: 2 })) ids.push(role.id);
  expect(ids).toEqual((await world.admin.listRoles({ first: 1000 })).items.map(({ id }) => id));
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
});

test('a cursor of another list is refused', async () => {
  const { pageInfo } = await world.admin.listApiKeys({ first: 1 });
  const attempt = world.admin.listRoles({ after: pageInfo.endCursor! });
  await expect(attempt).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' });
});
