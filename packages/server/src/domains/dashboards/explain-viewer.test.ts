/** One answer to why a viewer sees no dashboard, or no rows in it: each thing that is in the way, until nothing is. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createShop, shopWith } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

const PARTNERS = unique('partners');
const REGION = unique('region');
const TENANT = unique('tenant');
const OTHER = unique('tenant');
const POLICY = `    access_policy:
      - group: ${PARTNERS}
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.${REGION} }"] }] }
`;

let world: World;
let deploymentId: number;
let workbookId: number;
beforeAll(async () => {
  world = await createWorld();
  const model = shopWith(POLICY);
  const file = 'model/cubes/shop.yml';
  // The cube of orders is left without a policy.
  const closed = model[file].replace('    access_policy: [{ group: "*" }]\n', '');
  deploymentId = await createShop(world, { ...model, [file]: closed });
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Shop' } })).id;
  await world.admin.createUserGroup({ body: { name: PARTNERS } });
  await world.admin.createUserAttribute({ body: { name: REGION, type: 'string' } });
  for (const embedTenantName of [TENANT, OTHER])
    await world.embedded({ deploymentId, embedTenantName, externalId: 'other' });
  await publish(workbookId, { dimensions: ['customers.name'] });
});
afterAll(() => world.stop());

async function publish(id: number, query: object) {
  const { id: reportId } = await world.admin.createReport({
    deploymentId,
    body: {
      ...{ workbookId: id, name: 'Report', jsonQuery: JSON.stringify(query) },
      meta: { chart: { kind: 'table', spec: {} } },
    } as never,
  });
  const widget = { id: 'a', type: 'CHART' as const, position: { x: 0, y: 0, w: 6, h: 6 } };
  const config = { widgets: [{ ...widget, config: { reportId } }] };
  await world.admin.publishDashboard({ deploymentId, workbookId: id, body: { config } as never });
}

const explain = (body: object = {}, by = world.admin) =>
  by.explainViewer({ deploymentId, body: { embedTenantName: TENANT, externalId: 'ann', ...body } });
const codes = async (body: object = {}) => {
  const { reasons, dashboards } = await explain({ workbookId, ...body });
  const [{ isSeen, rows, reasons: own } = dashboards[0]!] = dashboards;
  return { isSeen, rows, codes: [...reasons, ...own].map(({ code }) => code) };
};

test('each thing in the way is named until the viewer sees their rows', async () => {
  expect(await codes({ embedTenantName: unique('nobody') })).toMatchObject({
    codes: expect.arrayContaining(['tenant_unknown', 'embedding_off', 'no_access_entry']),
  });
  expect(await codes()).toEqual({
    ...{ isSeen: false, rows: 'none' },
    codes: ['viewer_unknown', 'embedding_off', 'no_access_entry', 'no_policy_matches'],
  });
  const ann = { deploymentId, embedTenantName: TENANT, externalId: 'ann', groups: [PARTNERS] };
  const { client } = await world.embedded(ann);
  const names = async () => {
    const reply = await client.load({ deploymentId, body: { query: { dimensions: ['customers.name'] } } });
    return (reply as { data: Record<string, unknown>[] }).data.map((row) => row['customers.name']);
  };
  expect(await names()).toEqual([]);

  await world.admin.updateEmbedAccess({
    ...{ deploymentId, workbookId },
    body: { allowEmbed: true, embedTenantName: TENANT, action: 'none' },
  });
  expect((await codes()).codes).toEqual(['access_refused', 'attribute_missing']);
  await world.admin.updateEmbedAccess({
    ...{ deploymentId, workbookId },
    body: { embedTenantName: TENANT, action: 'read' },
  });
  const { viewer, dashboards } = await explain({ workbookId });
  expect(dashboards[0]).toMatchObject({ isSeen: true, rows: 'none' });
  expect(dashboards[0]!.reasons).toEqual([
    expect.objectContaining({ code: 'attribute_missing', cube: 'customers', attribute: REGION }),
  ]);
  expect(viewer).toMatchObject({ groups: [PARTNERS], liveSessions: 1, revokedSessions: 0 });
  const attribute = viewer.userAttributes.find(({ name }) => name === REGION)!;
  expect(attribute).toMatchObject({ value: null, source: 'none' });

  await world.admin.upsertUserAttributeValue({
    body: { userId: viewer.id!, userAttributeId: attribute.id, value: 'EMEA' },
  });
  const after = await explain({ workbookId });
  expect(after.dashboards[0]).toMatchObject({
    ...{ isSeen: true, rows: 'filtered' },
    reasons: [{ code: 'rows_filtered', cube: 'customers', values: ['EMEA'] }],
  });
  expect(await names()).toEqual(['Ada', 'Cyd']);

  await world.admin.revokeEmbedSessions({ body: { embedTenantName: TENANT, externalId: 'ann' } });
  expect((await codes()).codes).toEqual(['sessions_revoked', 'rows_filtered']);
  await world.admin.unpublishDashboard({ deploymentId, workbookId });
  expect(await codes()).toMatchObject({ isSeen: false, codes: ['sessions_revoked', 'not_published'] });
});

test('a cube without a policy does not exist for viewers, and neither do its members', async () => {
  const { id } = await world.admin.createWorkbook({ deploymentId, body: { name: 'Orders' } });
  await publish(id, { measures: ['orders.count'] });
  const { dashboards } = await explain({ workbookId: id });
  expect(dashboards).toMatchObject([
    { workbookId: id, rows: 'none', reasons: [{}, {}, { code: 'cube_closed', cube: 'orders' }] },
  ]);
});

test('only admins ask, and only about workbooks of this deployment that the tenant could see', async () => {
  const { client } = await world.person({ roles: ['Developer'] });
  await expect(explain({}, client)).rejects.toMatchObject({ status: 403 });
  await expect(explain({ workbookId: 2 ** 40 })).rejects.toMatchObject({ code: 'workbook_not_found' });
  const { client: creator } = await world.embedded({
    ...{ deploymentId, embedTenantName: OTHER, externalId: 'maker', creatorMode: true },
  });
  const { id } = await creator.createWorkbook({ deploymentId, body: { name: 'Of another tenant' } });
  await expect(explain({ workbookId: id })).rejects.toMatchObject({ code: 'workbook_not_found' });
  await expect(explain({ workbookId: id, embedTenantName: OTHER })).resolves.toMatchObject({
    dashboards: [
      { workbookId: id, isSeen: false, reasons: [{ code: 'not_published' }, { code: 'embedding_off' }] },
    ],
  });
});
