import { afterAll, beforeAll, expect, test } from 'vitest';
import { newTenant, newViewer, newViewers, type Viewer } from '../../../test/embed-tenants.ts';
import { createOwnWorld, createWorld, unique, type World } from '../../../test/world.ts';

const UNKNOWN = 999_999_999;
const MISSING = { status: 404, code: 'group_not_found' };
const REFUSED = { status: 400, code: 'invalid_request' };

let world: World;
let tenant: string;
beforeAll(async () => {
  world = await createWorld();
  tenant = await newTenant(world);
});
afterAll(() => world.stop());

const run = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

const newGroup = (given: object = {}, embedTenantName = tenant) =>
  world.admin.createGroup({ embedTenantName, body: { name: unique('group'), ...given } });

const groupsOf = async (embedTenantName: string) =>
  (await world.admin.getGroups({ embedTenantName, first: 1000 })).items;

const memberIds = async (id: number, embedTenantName = tenant) =>
  (await world.admin.getGroupMembers({ embedTenantName, id, first: 1000 })).items.map((user) => user.id);

const byId = (viewers: Viewer[]) => ({ members: viewers.map(({ id }) => ({ embedUserId: id })) });
const byExternalId = (viewers: Viewer[]) => ({
  members: viewers.map(({ externalId }) => ({ externalId })),
});
const add = (id: number, body: { members: object[] }, embedTenantName = tenant) =>
  world.admin.addGroupMembers({ embedTenantName, id, body });
const remove = (id: number, body: { members: object[] }, embedTenantName = tenant) =>
  world.admin.removeGroupMembers({ embedTenantName, id, body });

test('members are added and removed by embedUserId or externalId, and counted', async () => {
  const { id } = await newGroup();
  const viewers = await newViewers(world, tenant, 3);
  const [one, two, three] = viewers as [Viewer, Viewer, Viewer];
  const shown = new Map(
    (await world.admin.listEmbedUsers({ embedTenantName: tenant, first: 1000 })).items.map((user) => [
      user.id,
      user,
    ]),
  );
  expect(await add(id, byId([two, one]))).toEqual({
    addedMembers: [shown.get(one.id), shown.get(two.id)],
    unchangedMembers: [],
  });
  expect(await add(id, byExternalId([three, one]))).toEqual({
    addedMembers: [shown.get(three.id)],
    unchangedMembers: [shown.get(one.id)],
  });
  expect((await world.admin.getGroupMembers({ embedTenantName: tenant, id })).items).toEqual(
    viewers.map((viewer) => shown.get(viewer.id)),
  );

  expect(await remove(id, byExternalId([two]))).toBeUndefined();
  await remove(id, {
    members: [{ embedUserId: UNKNOWN }, { externalId: 'nobody' }, { embedUserId: one.id }],
  });
  expect(await memberIds(id)).toEqual([three.id]);
  expect(await world.admin.getGroup({ embedTenantName: tenant, id })).toMatchObject({ userCount: 1 });
  expect((await groupsOf(tenant)).find((group) => group.id === id)).toMatchObject({ userCount: 1 });
});

test('a user who is named twice is added once', async () => {
  const { id } = await newGroup();
  const [viewer] = (await newViewers(world, tenant, 1)) as [Viewer];
  const members = [{ embedUserId: viewer.id, externalId: null }, { externalId: viewer.externalId }];
  const { addedMembers, unchangedMembers } = await add(id, { members: [...members, ...members] });
  expect(addedMembers.map((user) => user.id)).toEqual([viewer.id]);
  expect(unchangedMembers).toEqual([]);
  expect(await memberIds(id)).toEqual([viewer.id]);
});

test('the same external id is another user in another embed tenant', async () => {
  const other = await newTenant(world);
  const externalId = unique('twin');
  const [here] = [
    await newViewer(world, tenant, { externalId }),
    await newViewer(world, other, { externalId }),
  ];
  const { id } = await newGroup();
  await add(id, { members: [{ externalId }] });
  expect(await memberIds(id)).toEqual([here.id]);
});

test('nobody is added if one of the ids is not in the embed tenant', async () => {
  const { id } = await newGroup();
  const [known] = (await newViewers(world, tenant, 1)) as [Viewer];
  const foreign = await newViewer(world, await newTenant(world));
  const { userId: person } = await world.person();
  const externalId = unique('newcomer');
  for (const embedUserId of [UNKNOWN, foreign.id, person]) {
    const members = [{ embedUserId: known.id }, { externalId }, { embedUserId }];
    await expect(add(id, { members })).rejects.toMatchObject({
      status: 404,
      code: 'user_not_found',
      issues: [{ path: 'members[2].embedUserId' }],
    });
  }
  expect(await memberIds(id)).toEqual([]);
  expect(await run('select from users where external_id = $1', [externalId])).toEqual([]);
});

test('a new external id becomes one user of the embed tenant', async () => {
  const { id } = await newGroup();
  const foreign = await newViewer(world, await newTenant(world));
  const externalIds = [unique('newcomer'), foreign.externalId];
  const members = [...externalIds, ...externalIds].map((externalId) => ({ externalId }));
  const replies = await Promise.all([add(id, { members }), add(id, { members: members.toReversed() })]);
  const [made] = replies.toSorted((a, b) => b.addedMembers.length - a.addedMembers.length) as [
    (typeof replies)[0],
  ];
  expect(made.addedMembers.map((user) => user.externalId).toSorted()).toEqual(externalIds.toSorted());
  expect(replies.flatMap(({ addedMembers }) => addedMembers)).toHaveLength(2);
  const { items } = await world.admin.getGroupMembers({ embedTenantName: tenant, id });
  expect(items.map((user) => user.externalId).toSorted()).toEqual(externalIds.toSorted());
  const audited = await run(
    `select after->'madeUserIds' as made from audit_log
     where operation = 'addGroupMembers' and resource_id = $1`,
    [String(id)],
  );
  expect(audited).toEqual([{ made: expect.arrayContaining(items.map((user) => user.id)) }]);
});

test('an external id that is not lowercase and trimmed is refused', async () => {
  const { id } = await newGroup();
  for (const externalId of ['Ada', ' ada', 'ada '])
    await expect(add(id, { members: [{ externalId: 'bob' }, { externalId }] })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_external_id',
      issues: [{ path: 'members[1].externalId' }],
    });
  expect(await memberIds(id)).toEqual([]);
});

test('no user is created if the new users would pass the limit on external users', async () => {
  const limited = await createOwnWorld({ env: { ORIEL_MAX_EXTERNAL_USERS: '3' } });
  try {
    const embedTenantName = await newTenant(limited);
    const { id } = await limited.admin.createGroup({ embedTenantName, body: { name: 'all' } });
    const addThere = (...externalIds: string[]) =>
      limited.admin.addGroupMembers({
        embedTenantName,
        id,
        body: { members: externalIds.map((externalId) => ({ externalId })) },
      });
    await addThere('ada', 'bob');
    const refusal = { status: 403, code: 'external_user_limit_reached' };
    await expect(addThere('ada', 'cleo', 'dora')).rejects.toMatchObject(refusal);
    const { items } = await limited.admin.listEmbedUsers({ embedTenantName });
    expect(items.map(({ externalId }) => externalId)).toEqual(['ada', 'bob']);
    await addThere('cleo');
    await expect(addThere('dora')).rejects.toMatchObject(refusal);
    expect((await addThere('ada', 'cleo')).unchangedMembers).toHaveLength(2);
  } finally {
    await limited.stop();
  }
});

test('adding and removing change both kinds of membership, and the list holds members of either kind', async () => {
  await run('update tenant_settings set use_creator_mode = true');
  const { id: deploymentId } = await world.deployment();
  const { id, name } = await newGroup();
  const viewerOf = (externalId: string, more: object = {}) =>
    world.embedded({ deploymentId, externalId, embedTenantName: tenant, creatorMode: true, ...more });
  const [ada, bob, cleo] = [unique('ada'), unique('bob'), unique('cleo')] as [string, string, string];
  await expect.poll(() => viewerOf(ada, { groups: [name] }).catch(() => null)).not.toBeNull();
  await viewerOf(bob, { tenantGroups: [name] });
  const members = async () =>
    (await world.admin.getGroupMembers({ embedTenantName: tenant, id })).items.map((user) => user.externalId);
  expect(await members()).toEqual([ada, bob]);
  expect(await world.admin.getGroup({ embedTenantName: tenant, id })).toMatchObject({ userCount: 2 });

  const named = { members: [ada, bob, cleo].map((externalId) => ({ externalId })) };
  expect((await add(id, named)).addedMembers.map((user) => user.externalId)).toEqual([ada, bob, cleo]);
  expect((await add(id, named)).unchangedMembers.map((user) => user.externalId)).toEqual([ada, bob, cleo]);
  const shown = async (externalId: string, more?: object) => {
    const { groups, tenantGroups } = await (await viewerOf(externalId, more)).client.getEmbedSession();
    return { groups, tenantGroups };
  };
  for (const externalId of [ada, bob, cleo])
    expect(await shown(externalId)).toEqual({ groups: [name], tenantGroups: [name] });

  expect(await shown(ada, { groups: [] })).toEqual({ groups: [], tenantGroups: [name] });
  expect(await members()).toEqual([ada, bob, cleo]);
  await remove(id, named);
  for (const externalId of [ada, bob, cleo])
    expect(await shown(externalId)).toEqual({ groups: [], tenantGroups: [] });
  expect(await members()).toEqual([]);
});

test.each([
  ['no members', {}],
  ['an empty list', { members: [] }],
  ['null', { members: null }],
  ['a member without an id', { members: [{}] }],
  ['a member with two nulls', { members: [{ embedUserId: null, externalId: null }] }],
  ['a member with both ids', { members: [{ embedUserId: 1, externalId: 'x' }] }],
  ['an id of 0', { members: [{ embedUserId: 0 }] }],
  ['an id as text', { members: [{ embedUserId: '1' }] }],
  ['an id with a fraction', { members: [{ embedUserId: 1.5 }] }],
  ['an empty external id', { members: [{ externalId: '' }] }],
  ['an external id of 256 characters', { members: [{ externalId: 'x'.repeat(256) }] }],
  ['more than 1000 members', { members: Array.from({ length: 1001 }, () => ({ externalId: 'x' })) }],
  ['ids without field names', { members: [1] }],
  ['a field that does not exist', { members: [{ embedUserId: 1, role: 'Admin' }] }],
])('bad members are refused: %s', async (_, body) => {
  const { id } = await newGroup();
  await expect(add(id, body as never)).rejects.toMatchObject(REFUSED);
  await expect(remove(id, body as never)).rejects.toMatchObject(REFUSED);
});

test('an issue names the index of the bad member', async () => {
  const { id } = await newGroup();
  const attempt = add(id, { members: [{ embedUserId: 1 }, {}] });
  await expect(attempt).rejects.toMatchObject({ issues: [{ path: 'members[1]' }] });
});

test('parallel additions of the same users add each of them once', async () => {
  const { id } = await newGroup();
  const viewers = await newViewers(world, tenant, 4);
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) => add(id, i % 2 ? byId(viewers) : byExternalId(viewers.toReversed()))),
  );
  const added = replies.flatMap(({ addedMembers }) => addedMembers.map((user) => user.id));
  expect(added.toSorted((a, b) => a - b)).toEqual(viewers.map((viewer) => viewer.id));
  expect(await memberIds(id)).toEqual(viewers.map((viewer) => viewer.id));
});

test('parallel additions and removals leave either all users in the group or none', async () => {
  const { id } = await newGroup();
  const viewers = await newViewers(world, tenant, 4);
  await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      i % 2 ? add(id, byId(viewers)) : remove(id, byId(viewers.toReversed())),
    ),
  );
  const { userCount } = await world.admin.getGroup({ embedTenantName: tenant, id });
  expect([0, 4]).toContain(userCount);
  expect(await memberIds(id)).toHaveLength(userCount!);
});

test('after parallel additions and a deletion, the group is gone', async () => {
  const { id } = await newGroup();
  const viewers = await newViewers(world, tenant, 2);
  const tryAdd = () =>
    add(id, byId(viewers)).then(
      () => 'added',
      (error) => error.code,
    );
  const deletion = world.admin.deleteGroup({ embedTenantName: tenant, id });
  const outcomes = await Promise.all([tryAdd(), tryAdd(), tryAdd(), tryAdd()]);
  await deletion;
  for (const outcome of outcomes) expect(['added', 'group_not_found']).toContain(outcome);
  await expect(memberIds(id)).rejects.toMatchObject(MISSING);
});

test('parallel changes and a deletion of the embed tenant leave no groups', async () => {
  const embedTenantName = await newTenant(world);
  const viewers = await newViewers(world, embedTenantName, 3);
  const { id } = await newGroup({}, embedTenantName);
  const outcome = (call: Promise<unknown>) =>
    call.then(
      () => 'done',
      (error) => error.code,
    );
  const calls = [
    add(id, byId(viewers), embedTenantName),
    newGroup({}, embedTenantName),
    world.admin.deleteEmbedTenant({ embedTenantName }),
    newGroup({}, embedTenantName),
    add(id, byExternalId(viewers), embedTenantName),
    remove(id, byId(viewers), embedTenantName),
  ];
  for (const result of await Promise.all(calls.map(outcome)))
    expect(['done', 'embed_tenant_not_found']).toContain(result);
  expect(await run('select from user_groups where embed_tenant = $1', [embedTenantName])).toEqual([]);
});

test('deleting a group does not change the other groups of its members', async () => {
  const [kept, other] = [await newGroup(), await newGroup()];
  const viewers = await newViewers(world, tenant, 2);
  for (const { id } of [kept, other]) await add(id, byId(viewers));
  await world.admin.deleteGroup({ embedTenantName: tenant, id: other.id });
  expect(await memberIds(kept.id)).toEqual(viewers.map(({ id }) => id));
});
