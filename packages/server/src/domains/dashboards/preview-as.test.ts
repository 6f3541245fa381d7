/** Previews of a dashboard as somebody else: under their policies, audited, and of no use to anybody else. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createShop, shopWith } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { createPreviewIds } from './preview-as.ts';

const ALL = unique('all');
const PARTNERS = unique('partners');
const REGION = unique('region');
const TENANT = unique('tenant');
const POLICIES = `    access_policy:
      - group: ${ALL}
        row_level: { allow_all: true }
      - group: ${PARTNERS}
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.${REGION} }"] }] }
      - group: "tenant:${PARTNERS}"
        row_level: { filters: [{ member: name, operator: equals, values: ["{ securityContext.name }"] }] }
`;
const QUERY = { dimensions: ['customers.name'], order: { 'customers.name': 'asc' as const } };

let world: World;
let deploymentId: number;
let workbookId: number;
const groupIds: Record<string, number> = {};
let userAttributeId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world, shopWith(POLICIES));
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Shop' } })).id;
  for (const name of [ALL, PARTNERS])
    groupIds[name] = (await world.admin.createUserGroup({ body: { name } })).id;
  await world.embedded({ deploymentId, embedTenantName: TENANT, externalId: 'first' });
  const attribute = { name: REGION, type: 'string' as const, defaultValue: 'AMER' };
  userAttributeId = (await world.admin.createUserAttribute({ body: attribute })).id;
});
afterAll(() => world.stop());

type Identity = Parameters<World['admin']['createDashboardPreview']>[0]['body'];
const create = (body: Identity, by = world.admin) =>
  by.createDashboardPreview({ deploymentId, workbookId, body });
async function load(previewId: string, by = world.admin, at = workbookId): Promise<unknown[]> {
  const body = { previewId, query: [QUERY] };
  const reply = await by.loadDashboardPreview({ deploymentId, workbookId: at, body });
  return (reply as { results: { data: Record<string, unknown>[] }[] }).results[0]!.data.map(
    (row) => row['customers.name'],
  );
}
const seen = async (body: Identity) => load((await create(body)).previewId);
const join = (name: string, userId: number) =>
  world.admin.addUserGroupMembers({ id: groupIds[name]!, body: { userIds: [userId] } });

test('a person is shown with their own rows, by their rights of this moment', async () => {
  const { userId } = await world.person({ roles: ['Viewer'] });
  await join(PARTNERS, userId);
  await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value: 'EMEA' } });
  const preview = await create({ userId });
  expect(preview).toMatchObject({
    ...{ groups: [PARTNERS], roles: ['Viewer'], seesDashboard: false },
    userAttributes: { [REGION]: 'EMEA' },
  });
  expect(await load(preview.previewId)).toEqual(['Ada', 'Cyd']);
  await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value: 'AMER' } });
  expect(await load(preview.previewId)).toEqual(['Bob']);
  await world.admin.setUserPolicy({
    body: { resourceType: 'Workbook', resourceId: workbookId, userId, action: 'WorkbookRead' },
  });
  await world.admin.publishDashboard({ deploymentId, workbookId, body: { config: { widgets: [] } } });
  expect((await create({ userId })).seesDashboard).toBe(true);
  await world.admin.deleteUser({ id: userId });
  await expect(load(preview.previewId)).rejects.toMatchObject({ status: 404, code: 'user_not_found' });
});

test('a person who may not query is shown no rows', async () => {
  const role = await world.admin.createRole({
    body: { name: unique('role'), actions: ['DeploymentRead'] },
  });
  const { userId } = await world.person({ roles: [role.name] });
  await join(ALL, userId);
  await expect(seen({ userId })).rejects.toMatchObject({ status: 403 });
});

test('a group is somebody who is in it, and in nothing else', async () => {
  expect(await seen({ groupId: groupIds[ALL] })).toEqual(['Ada', 'Bob', 'Cyd']);
  expect(await seen({ groupId: groupIds[PARTNERS] })).toEqual(['Bob']);
  expect((await create({ groupId: groupIds[ALL] })).seesDashboard).toBeNull();
});

test('a viewer in a page of a host is shown what their session would show, and what is described goes over it', async () => {
  const embedTenantName = unique('acme');
  const ann = {
    ...{ embedTenantName, externalId: 'ann', groups: [PARTNERS] },
    userAttributes: [{ name: REGION, value: 'EMEA' }],
  };
  const { client } = await world.embedded({ deploymentId, ...ann });
  const own = await client.load({ deploymentId, body: { query: QUERY } });
  const names = (own as { data: Record<string, unknown>[] }).data.map((row) => row['customers.name']);
  const viewer = { embedTenantName, externalId: 'ann' };
  expect(await seen({ viewer })).toEqual(names);
  expect(names).toEqual(['Ada', 'Cyd']);
  expect(await seen({ viewer: { ...viewer, userAttributes: { [REGION]: 'AMER' } } })).toEqual(['Bob']);
  expect(await seen({ viewer: { ...viewer, userAttributes: { [REGION]: null } } })).toEqual(['Bob']);
  expect(await seen({ viewer: { ...viewer, groups: [] } })).toEqual([]);
  expect(await seen({ viewer: { embedTenantName, groups: [ALL] } })).toEqual(['Ada', 'Bob', 'Cyd']);

  await world.admin.createGroup({ embedTenantName, body: { name: PARTNERS } } as never);
  const creator = { embedTenantName, creatorMode: true, tenantGroups: [PARTNERS] };
  expect(await seen({ viewer: { ...creator, securityContext: { name: 'Cyd' } } })).toEqual(['Cyd']);
  expect(await seen({ viewer: creator })).toEqual([]);

  const access = async () => (await create({ viewer })).seesDashboard;
  await world.admin.publishDashboard({ deploymentId, workbookId, body: { config: { widgets: [] } } });
  expect(await access()).toBe(false);
  const body = { allowEmbed: true, embedTenantName, action: 'read' as const };
  await world.admin.updateEmbedAccess({ deploymentId, workbookId, body });
  expect(await access()).toBe(true);
});

test.each<[string, () => Identity, object]>([
  ['nobody', () => ({}), { status: 400 }],
  ['two at once', () => ({ userId: 1, groupId: groupIds[ALL] }), { status: 400 }],
  ['a person who is not there', () => ({ userId: 999_999 }), { status: 404, code: 'user_not_found' }],
  ['a group that is not there', () => ({ groupId: 999_999 }), { status: 404, code: 'group_not_found' }],
  [
    'an embed tenant that is not there',
    () => ({ viewer: { embedTenantName: unique('none') } }),
    { status: 404, code: 'embed_tenant_not_found' },
  ],
  [
    'a group that the account has not',
    () => ({ viewer: { embedTenantName: TENANT, groups: [ALL, 'nope'] } }),
    { status: 400, code: 'groups_not_found', message: 'Groups with names nope not found' },
  ],
  [
    'an attribute that the account has not',
    () => ({ viewer: { embedTenantName: TENANT, userAttributes: { nope: 1 } } }),
    { status: 400, code: 'user_attributes_not_found' },
  ],
  [
    'a group of the account in creator mode',
    () => ({ viewer: { embedTenantName: TENANT, creatorMode: true, groups: [ALL] } }),
    { code: 'groups_not_found' },
  ],
  [
    'a value of another type',
    () => ({ viewer: { embedTenantName: TENANT, userAttributes: { [REGION]: 7 } } }),
    { status: 400 },
  ],
  [
    'groups of an embed tenant without creator mode',
    () => ({ viewer: { embedTenantName: TENANT, tenantGroups: [ALL] } }),
    { status: 400 },
  ],
])('%s cannot be previewed', async (_name, body, error) => {
  await expect(create(body())).rejects.toMatchObject(error);
});

test('it is for admins, audited, and works for one admin, one workbook and an hour', async () => {
  const identity = { groupId: groupIds[ALL]! };
  const { client } = await world.person({ roles: ['Developer'] });
  await expect(create(identity, client)).rejects.toMatchObject({ status: 403 });
  const { previewId } = await create(identity);
  const audit = { operation: 'createDashboardPreview', resourceType: 'dashboardPreview' };
  const { items } = await world.admin.listAuditLog({ ...audit, first: 1 });
  expect(items[0]).toMatchObject({ resourceId: String(workbookId), deploymentId, after: identity });

  const gone = { status: 404, code: 'dashboard_preview_not_found' };
  const other = await world.person({ roles: ['Admin'] });
  const elsewhere = await world.admin.createWorkbook({ deploymentId, body: { name: 'Other' } });
  const changed = Buffer.from(previewId, 'base64url');
  changed[40]! ^= 1;
  await expect(load(previewId, other.client)).rejects.toMatchObject(gone);
  await expect(load(previewId, world.admin, elsewhere.id)).rejects.toMatchObject(gone);
  await expect(load(changed.toString('base64url'))).rejects.toMatchObject(gone);
  await expect(load('AAAA')).rejects.toMatchObject(gone);
  await expect(load(previewId, client)).rejects.toMatchObject({ status: 403 });

  let now = Date.UTC(2026, 0, 1);
  const ids = createPreviewIds([randomBytes(32)], () => now);
  const bound = { userId: 1, deploymentId, workbookId };
  const made = ids.make(bound, identity);
  now += 3_599_999;
  expect(ids.open(bound, made.previewId)).toEqual(identity);
  now += 1;
  expect(() => ids.open(bound, made.previewId)).toThrow(/no such preview/);
});
