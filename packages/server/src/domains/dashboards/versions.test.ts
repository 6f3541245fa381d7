/** What authors do beside publishing: look at reports as they would be shown, at versions, and take a dashboard back. */
import { expect, test } from 'vitest';
import {
  BARS,
  chart,
  deploymentId,
  QUERY,
  report,
  usePublishing,
  workbookId,
  world,
} from '../../../test/publishing.ts';
import { unique } from '../../../test/world.ts';

usePublishing();

const here = () => ({ deploymentId, workbookId });

test('an author sees reports as charts show them, with what is wrong, and without those of others', async () => {
  const drawn = await report({ chart: { kind: 'vega', spec: BARS } });
  const broken = await report({
    chart: { kind: 'vega', spec: { mark: 'bar', encoding: { x: { field: 'no' } } } },
  });
  const body = { name: unique('role'), actions: ['DeploymentRead' as const, 'AIBIExplore' as const] };
  const { name } = await world.admin.createRole({ body });
  const [author, other] = [await world.person({ roles: [name] }), await world.person({ roles: [name] })];
  const own = await author.client.createWorkbook({ deploymentId, body: {} });
  const secret = await other.client.createReport({
    deploymentId,
    body: { name: 'Secret', jsonQuery: JSON.stringify(QUERY) },
  });
  const { reportSnapshots } = await world.admin.previewDashboardReports({
    ...here(),
    body: { reportIds: [broken, drawn, 999_999] },
  });
  expect(reportSnapshots.map(({ reportId }) => reportId)).toEqual([broken, drawn]);
  expect(reportSnapshots[0]!.meta).toMatchObject({ problem: expect.stringContaining('`no`') });
  // Compiled: Vega, and not Vega-Lite.
  expect(reportSnapshots[1]).toMatchObject({
    kind: 'vega',
    spec: { marks: expect.anything() },
    meta: { query: QUERY },
  });
  const seen = await author.client.previewDashboardReports({
    deploymentId,
    workbookId: own.id,
    body: { reportIds: [secret.id] },
  });
  expect(seen.reportSnapshots).toEqual([]);
  const foreign = other.client.previewDashboardReports({
    deploymentId,
    workbookId: own.id,
    body: { reportIds: [secret.id] },
  });
  await expect(foreign).rejects.toMatchObject({ status: 404, code: 'workbook_not_found' });
  // Nothing was stored.
  expect((await world.admin.getWorkbook(here())).dashboardDraft).toBeNull();
});

test('versions tell who published what and why, and an old one can be read whole and restored', async () => {
  const reportId = await report({ chart: { kind: 'vega', spec: BARS } });
  const first = { title: 'One', widgets: [chart(reportId)] };
  await world.admin.publishDashboard({ ...here(), body: { config: first, note: 'A beginning' } });
  await world.admin.publishDashboard({ ...here(), body: { config: { title: 'Two', widgets: [] } } });
  const { isPublished, versions } = await world.admin.getDashboardVersions(here());
  expect(isPublished).toBe(true);
  expect(versions).toMatchObject([
    { versionNumber: 2, title: 'Two', note: null, publishedBy: { displayName: expect.any(String) } },
    { versionNumber: 1, title: 'One', note: 'A beginning' },
  ]);
  const old = await world.admin.getDashboardVersion({ ...here(), versionNumber: 1 });
  expect(old).toMatchObject({ status: 'archived', config: first, reportSnapshots: [{ reportId }] });
  const newest = await world.admin.getDashboardVersion({ ...here(), versionNumber: 2 });
  expect(newest.status).toBe('published');
  await world.admin.updateWorkbookDashboard({ ...here(), body: { dashboardDraft: old.config } });
  expect(await world.admin.publishDashboard({ ...here(), body: {} })).toMatchObject({
    title: 'One',
    versionNumber: 3,
  });
  const missing = world.admin.getDashboardVersion({ ...here(), versionNumber: 4 });
  await expect(missing).rejects.toMatchObject({ status: 404, code: 'dashboard_version_not_found' });
});

test('creators read the names of those who publish and edit, and no address', async () => {
  const embedTenantName = unique('tenant');
  const [name, adminName] = [unique('ann'), unique('admin')];
  const body = { username: `${adminName}@example.com`, email: `${adminName}@example.com`, roles: ['Admin'] };
  await world.admin.createUser({ body });
  const creator = (who: { externalId: string } | { internalId: string }) =>
    world.embedded({ deploymentId, embedTenantName, creatorMode: true, ...who });
  const { client: ann } = await creator({ externalId: `${name}@acme.example` });
  const { client: admin } = await creator({ internalId: body.username });
  const at = { deploymentId, workbookId: (await ann.createWorkbook({ deploymentId, body: {} })).id };
  await ann.publishDashboard({ ...at, body: { config: { widgets: [] } } });
  await admin.publishDashboard({ ...at, body: { config: { widgets: [] } } });
  const { versions } = await ann.getDashboardVersions(at);
  expect(versions.map(({ publishedBy }) => publishedBy!.displayName)).toEqual([adminName, name]);
  for (const client of [ann, admin])
    for await (const { data } of await client.watchDashboardDraft(at)) {
      const own = client === ann ? name : adminName;
      expect(data.people.map(({ displayName }) => displayName)).toContain(own);
      break;
    }
});

test('a dashboard that was taken back is gone for viewers, and comes back at the same address', async () => {
  const config = { title: 'Shown', widgets: [] };
  const { publicId } = await world.admin.publishDashboard({ ...here(), body: { config } });
  const reader = world.admin.getDashboard({ publicId });
  await expect(reader).resolves.toMatchObject({ title: 'Shown' });
  await world.admin.updateWorkbookDashboard({ ...here(), body: { dashboardDraft: config } });
  await world.admin.unpublishDashboard(here());
  await expect(world.admin.getDashboard({ publicId })).rejects.toMatchObject({
    status: 404,
    code: 'dashboard_not_found',
  });
  const workbook = await world.admin.getWorkbook(here());
  expect(workbook).toMatchObject({ dashboardDraft: config, dashboardPublished: null });
  expect(workbook.publishedDashboard ?? null).toBeNull();
  expect((await world.admin.getDashboardVersions(here())).isPublished).toBe(false);
  await expect(world.admin.unpublishDashboard(here())).rejects.toMatchObject({
    status: 409,
    code: 'not_published',
  });
  const again = await world.admin.publishDashboard({ ...here(), body: {} });
  expect(again).toMatchObject({ publicId, versionNumber: 2, status: 'published' });
  await expect(world.admin.getDashboard({ publicId })).resolves.toMatchObject({ title: 'Shown' });
});
