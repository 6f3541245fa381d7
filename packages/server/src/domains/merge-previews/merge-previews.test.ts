import { afterAll, beforeAll, expect, test } from 'vitest';
import { modeller } from '../../../test/data-models.ts';
import { deployModel, whenBuilt } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const FILE = 'model/orders.yml';
const model = (measures: string) => `cubes:
  - name: orders
    sql: select 1 as id, 'new' as status, 5 as amount
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
    measures:
${measures}    access_policy:
      - group: "*"
views:
  - name: sales
    cubes:
      - { join_path: orders, includes: "*" }
`;
const COUNT = '      - { name: count, type: count }\n';
const REVENUE = '      - { name: revenue, sql: amount, type: sum }\n';
const TWICE = '      - { name: twice, sql: "2 * {revenue}", type: number }\n';

async function shop() {
  const { id: deploymentId } = await world.deployment();
  await deployModel(world, deploymentId, { [FILE]: model(COUNT + REVENUE + TWICE) });
  const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: { name: 'Sales' } });
  const report = (name: string, measure: string, inWorkbook = true) =>
    world.admin.createReport({
      deploymentId,
      body: {
        name,
        ...(inWorkbook && { workbookId }),
        jsonQuery: JSON.stringify({ measures: [measure], dimensions: ['sales.status'] }),
        meta: { chart: { kind: 'kpi', spec: { measure } } },
      },
    });
  return { deploymentId, workbookId, report };
}

test('a preview tells which reports, dashboards and schedules a merge breaks or changes, and why', async () => {
  const { deploymentId, workbookId, report } = await shop();
  const revenue = await report('Revenue', 'sales.revenue');
  const twice = await report('Twice', 'orders.twice', false);
  await report('Count', 'orders.count');
  const chart = (id: string, reportId: number) => ({
    id,
    type: 'CHART' as const,
    position: { x: 0, y: 0, w: 4, h: 4 },
    config: { reportId },
  });
  const config = { widgets: [chart('a', revenue.id)] };
  await world.admin.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft: config } });
  const { publicId } = await world.admin.publishDashboard({ deploymentId, workbookId, body: { config } });
  const { id: scheduleId } = await world.admin.createNotification({
    deploymentId,
    body: { dashboardPublicId: publicId, scheduleType: 'HOURLY', name: 'Every hour' },
  });
  const developer = await modeller(world, deploymentId, { branch: unique('branch') });
  const preview = () => developer.client.previewMerge({ deploymentId, branchName: developer.branchName });
  expect(await preview()).toMatchObject({ changes: [], reports: [], dashboards: [], isComplete: true });

  // Uncommitted changes count.
  const filtered = REVENUE.replace('type: sum', 'type: sum, filters: [{ sql: "{CUBE}.amount > 1" }]');
  await developer.write({ [FILE]: model(COUNT + filtered + TWICE) });
  const changed = await world.admin.previewMerge({ deploymentId, branchName: developer.branchName });
  // The admin is not in dev mode on the branch, and sees what is committed.
  expect(changed.changes).toEqual([]);
  await developer.commit('Filter');
  const changes = await world.admin.previewMerge({ deploymentId, branchName: developer.branchName });
  expect(changes.changes).toEqual([
    { name: 'orders.revenue', what: 'measure', change: 'changed', keys: ['filters'] },
  ]);
  expect(changes.reports).toEqual([
    { id: revenue.id, name: 'Revenue', workbookId, effect: 'changes', members: ['sales.revenue'] },
    { id: twice.id, name: 'Twice', workbookId: null, effect: 'changes', members: ['orders.twice'] },
  ]);
  const onDashboard = { workbookId, name: 'Sales', effect: 'changes', members: ['sales.revenue'] };
  expect(changes.dashboards).toEqual([
    { ...onDashboard, state: 'draft' },
    { ...onDashboard, state: 'published' },
  ]);

  const schedule = { id: scheduleId, name: 'Every hour', workbookId, isEnabled: true };
  expect(changes.schedules).toEqual([{ ...schedule, effect: 'changes', members: ['sales.revenue'] }]);

  await developer.save({ [FILE]: model(COUNT) });
  const broken = await world.admin.previewMerge({ deploymentId, branchName: developer.branchName });
  expect(broken.reports).toMatchObject([
    { name: 'Revenue', effect: 'fails', members: ['sales.revenue'] },
    { name: 'Twice', effect: 'fails', members: ['orders.twice'] },
  ]);
  expect(broken.dashboards).toMatchObject([
    { state: 'draft', effect: 'fails' },
    { state: 'published', effect: 'fails' },
  ]);
  expect(broken.schedules).toEqual([{ ...schedule, effect: 'fails', members: ['sales.revenue'] }]);
  expect(broken.hiddenCount).toBe(0);

  await developer.save({ [FILE]: 'cubes: 1\n' });
  const wrong = await world.admin.previewMerge({ deploymentId, branchName: developer.branchName });
  expect(wrong.errors).toMatchObject([{ fileName: FILE, line: 1 }]);
  // Neither branch has changed by all this.
  await whenBuilt(world, deploymentId);
});

test('content that the caller may not read is counted, and not named', async () => {
  const { deploymentId, workbookId, report } = await shop();
  const { id: reportId } = await report('Secret', 'orders.revenue', false);
  const position = { x: 0, y: 0, w: 4, h: 4 };
  const dashboardDraft = { widgets: [{ id: 'a', type: 'CHART' as const, position, config: { reportId } }] };
  await world.admin.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft } });
  const developer = await modeller(world, deploymentId, { branch: unique('branch') });
  await developer.save({ [FILE]: model(COUNT) });
  const reader = await world.person({ roles: ['Viewer'] });
  const role = await world.admin.createRole({
    body: { name: unique('role'), actions: ['DeploymentRead', 'SchemaRead'] },
  });
  await world.admin.updateUser({ id: reader.userId, body: { roles: [role.name] } });
  const preview = () => reader.client.previewMerge({ deploymentId, branchName: developer.branchName });
  const seen = await preview();
  expect(seen).toMatchObject({ reports: [], dashboards: [], hiddenCount: 2 });
  expect(JSON.stringify(seen)).not.toContain('Secret');
  // Only users who may edit the draft see it.
  const allow = (action: 'WorkbookRead' | 'WorkbookEdit') =>
    world.admin.setUserPolicy({
      body: { resourceType: 'Workbook', resourceId: workbookId, userId: reader.userId, action },
    });
  await allow('WorkbookRead');
  expect(await preview()).toMatchObject({ dashboards: [], hiddenCount: 2 });
  await allow('WorkbookEdit');
  expect(await preview()).toMatchObject({ dashboards: [{ workbookId, state: 'draft' }], hiddenCount: 1 });
});

test('files in conflict are named, and the deploy branch has nothing to be merged into', async () => {
  const { deploymentId } = await shop();
  const one = await modeller(world, deploymentId, { branch: unique('one') });
  const other = await modeller(world, deploymentId, { branch: unique('other') });
  await one.save({ [FILE]: model(COUNT) });
  await other.save({ [FILE]: model(REVENUE) });
  await world.admin.mergeToDefaultBranch({ deploymentId, body: { branchName: one.branchName } });
  const preview = await world.admin.previewMerge({ deploymentId, branchName: other.branchName });
  expect(preview).toMatchObject({ conflicts: [FILE], changes: [], parentBranch: 'main' });
  const ofDeployed = world.admin.previewMerge({ deploymentId, branchName: 'main' });
  await expect(ofDeployed).rejects.toMatchObject({ status: 409, code: 'no_parent_branch' });
});
