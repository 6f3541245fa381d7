/** Creators share content with users and groups of their own embed tenant, and reach nobody else. */
import type { OrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createShop, shopWith } from '../../../test/shops.ts';
import { createWorld, type Person, unique, type World } from '../../../test/world.ts';

const TENANT = unique('sharing').replaceAll('_', '-');
const OTHER = unique('stranger').replaceAll('_', '-');
const SALES = unique('sales');
const UNKNOWN = 999_999_999;

let world: World;
let deploymentId: number;
let ann: OrielClient;
/** A creator of another embed tenant. */
let gus: OrielClient;
let colleague: Person;
let accountGroupId: number;
/** What Ann made: a folder with a workbook whose dashboard is published, and may not be embedded. */
let folder: { resourceType: 'Folder'; resourceId: number };
let publicId: string;
type Request = Parameters<World['embedded']>[0];
const embedded = async (given: Partial<Request>) =>
  (await world.embedded({ deploymentId, embedTenantName: TENANT, ...given })).client;

const POLICIES = `    access_policy:
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.area }"] }] }
      - group: the-secret-club
        row_level: { allow_all: true }
`;

beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world, shopWith(POLICIES));
  ann = await embedded({ externalId: 'ann', creatorMode: true });
  gus = await embedded({ externalId: 'gus', creatorMode: true, embedTenantName: OTHER });
  const withGroups = { creatorMode: true, groupDefinitions: [{ name: SALES }] };
  await embedded({ ...withGroups, externalId: 'bob@customer.example', tenantGroups: [SALES] });
  await embedded({
    ...withGroups,
    externalId: 'cleo',
    email: 'cleo@customer.example',
    userProfile: { displayName: 'Cleo' },
    groups: [SALES],
  } as never);
  colleague = await world.person();
  await world.admin.updateUser({ id: colleague.userId, body: { firstName: 'Colleague' } });
  accountGroupId = (await world.admin.createUserGroup({ body: { name: unique('account') } })).id;
  const { id } = await ann.createFolder({ deploymentId, body: { name: 'Ours' } });
  folder = { resourceType: 'Folder', resourceId: id };
  const workbook = await ann.createWorkbook({ deploymentId, body: { name: 'Board', folderId: id } });
  const body = { config: {}, title: 'Board', allowEmbed: false };
  ({ publicId } = await ann.publishDashboard({ deploymentId, workbookId: workbook.id, body }));
});
afterAll(() => world.stop());

const find = (by: OrielClient, search: string) => by.findPolicyCandidates({ ...folder, search });
const nameOf = ({ users, groups, roles }: Awaited<ReturnType<OrielClient['findPolicyCandidates']>>) =>
  [...users, ...groups, ...roles].map(({ name }) => name);
const sees = async (who: Partial<Request>) =>
  (await embedded(who)).getDashboard({ publicId }).then(
    () => true,
    ({ status }) => status,
  );
const refusal = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'done',
    ({ status, code, message }) => ({ status, code, message }),
  );

test('a creator finds the users and groups of the own embed tenant, by names without addresses', async () => {
  expect(nameOf(await find(ann, 'cleo'))).toEqual(['Cleo']);
  expect(nameOf(await find(ann, 'BOB'))).toEqual(['bob']);
  expect(nameOf(await find(ann, 'customer.example'))).toEqual([]);
  expect(nameOf(await find(ann, SALES.slice(1)))).toEqual([SALES]);
  for (const text of ['colleague', 'account', 'gus', 'admin'])
    expect(nameOf(await find(ann, text))).toEqual([]);
});

test('people who are deactivated are not offered', async () => {
  const firstName = unique('Leaver');
  const { userId } = await world.person();
  await world.admin.updateUser({ id: userId, body: { firstName } });
  expect(nameOf(await find(world.admin, firstName))).toEqual([firstName]);
  await world.admin.bulkUserAction({ body: { action: 'DEACTIVATE', userIds: [userId] } });
  expect(nameOf(await find(world.admin, firstName))).toEqual([]);
});

test('a viewer sees a dashboard while it is shared with them or with a group that they share in', async () => {
  const [bob] = (await find(ann, 'bob')).users;
  const [sales] = (await find(ann, SALES)).groups;
  expect([await sees({ externalId: 'bob@customer.example' }), await sees({ externalId: 'cleo' })]).toEqual([
    404, 404,
  ]);
  const given = { ...folder, action: 'FolderRead' } as const;
  const reply = await ann.setGroupPolicy({ body: { ...given, groupId: sales!.groupId } });
  expect(reply.groups).toEqual([
    { groupId: sales!.groupId, name: SALES, action: 'FolderRead', inheritedFrom: null },
  ]);
  // Cleo is in the group for data policies, not for sharing.
  expect([await sees({ externalId: 'bob@customer.example' }), await sees({ externalId: 'cleo' })]).toEqual([
    true,
    404,
  ]);
  await ann.setGroupPolicy({ body: { ...folder, groupId: sales!.groupId } });
  expect(await sees({ externalId: 'bob@customer.example' })).toBe(404);
  const { users } = await ann.setUserPolicy({ body: { ...given, userId: bob!.userId } });
  expect(users).toMatchObject([{ userId: bob!.userId, email: null, firstName: 'bob' }]);
  expect(await sees({ externalId: 'bob@customer.example' })).toBe(true);
  await ann.setUserPolicy({ body: { ...folder, userId: bob!.userId } });
  expect(await sees({ externalId: 'bob@customer.example' })).toBe(404);
});

test('nobody outside of the embed tenant is reachable or visible', async () => {
  const bob = (await find(ann, 'bob')).users[0]!.userId;
  const theirs = await gus.createFolder({ deploymentId, body: { name: 'Theirs' } });
  const on = { resourceType: 'Folder' as const, resourceId: theirs.id };
  const give = (userId: number) => ann.setUserPolicy({ body: { ...folder, userId, action: 'FolderRead' } });
  const giveGroup = (groupId: number) =>
    ann.setGroupPolicy({ body: { ...folder, groupId, action: 'FolderRead' } });
  expect(await refusal(give(UNKNOWN))).toMatchObject({ status: 400, code: 'invalid_reference' });
  expect(await refusal(give(colleague.userId))).toEqual(await refusal(give(UNKNOWN)));
  expect(await refusal(giveGroup(accountGroupId))).toEqual(await refusal(giveGroup(UNKNOWN)));
  // A creator neither sees nor removes a policy for a person of the account.
  const body = { ...folder, userId: colleague.userId } as const;
  await world.admin.setUserPolicy({ body: { ...body, action: 'FolderRead' } });
  expect((await ann.setUserPolicy({ body })).users).toEqual([]);
  expect((await world.admin.getResourcePolicies(folder)).users).toHaveLength(1);
  const main = await world.admin.createFolder({ deploymentId, body: { name: 'Of the account' } });
  const attempts = (resource: { resourceType: 'Folder' | 'Deployment'; resourceId: number }) => [
    () => ann.getResourcePolicies(resource),
    () => ann.findPolicyCandidates({ ...resource, search: 'bob' }),
    () => ann.setUserPolicy({ body: { ...resource, userId: bob } }),
  ];
  const missing = await refusal(ann.getResourcePolicies({ resourceType: 'Folder', resourceId: UNKNOWN }));
  expect(missing).toMatchObject({ status: 404, code: 'resource_not_found' });
  const places = [
    on,
    { ...on, resourceId: main.id },
    { resourceType: 'Deployment' as const, resourceId: deploymentId },
  ];
  for (const attempt of places.flatMap(attempts)) expect(await refusal(attempt())).toEqual(missing);
});

test('viewers who are no creators share nothing', async () => {
  const viewer = await embedded({ externalId: 'dan' });
  expect(await refusal(viewer.getResourcePolicies(folder))).toMatchObject({ code: 'creator_mode_only' });
});

test('people who manage something find others by name, and see neither emails nor roles', async () => {
  const owner = await world.person({ roles: ['Explorer'] });
  const { id } = await owner.client.createReport({ deploymentId, body: {} });
  const report = { resourceType: 'Report', resourceId: id } as const;
  const search = async (by: OrielClient, text: string) =>
    by.findPolicyCandidates({ ...report, search: text });
  const { users } = await search(owner.client, 'colleague');
  expect(users).toContainEqual({ userId: colleague.userId, name: 'Colleague', picture: null });
  expect(JSON.stringify(users)).not.toContain('@');
  expect((await search(owner.client, 'view')).roles).toEqual([]);
  expect((await search(world.admin, 'view')).roles).toContainEqual(
    expect.objectContaining({ name: 'Viewer' }),
  );
  expect((await search(owner.client, 'bob')).users).toEqual([]);
  expect(await refusal(search(colleague.client, 'a'))).toMatchObject({ code: 'resource_not_found' });
});

test('a creator learns whether their own query hides rows, and nothing of policies, other members or SQL', async () => {
  const query = { measures: ['orders.count'], dimensions: ['customers.region'] };
  const { plans, hiddenMembers } = await ann.explainQuery({ deploymentId, body: { query } });
  expect(plans).toMatchObject([{ sql: '', values: [] }]);
  expect(plans[0]!.reads).toContainEqual({ name: 'customers', kind: 'cube', rows: 'filtered', policies: [] });
  expect(JSON.stringify([plans, hiddenMembers])).not.toContain('secret');
  const asOther = ann.explainQuery({
    deploymentId,
    body: { query, viewer: { groups: ['the-secret-club'] } },
  });
  await expect(asOther).rejects.toMatchObject({ status: 400 });
  const wrong = { deploymentId, body: { query: { measures: ['orders.nothing'] } } };
  const refused = await refusal(ann.explainQuery(wrong));
  expect(refused).toMatchObject({ status: 400, code: 'unknown_member' });
  expect(refused).toEqual(await refusal(ann.load(wrong)));
});
