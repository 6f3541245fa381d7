import { beforeEach, describe, expect, test } from 'vitest';
import {
  BARS,
  type Config,
  chart,
  deploymentId,
  position,
  publish,
  QUERY,
  refused,
  report,
  usePublishing,
  type Widget,
  workbookId,
  world,
} from '../../../test/publishing.ts';
import { type Person, unique, type World } from '../../../test/world.ts';

usePublishing();

test('publishing takes snapshots of the reports as they are, with Vega in place of Vega-Lite', async () => {
  const chartOf = { kind: 'vega', spec: BARS, periodComparisons: [], python: 'print(1)' };
  const vega = await report({ chart: chartOf }, { title: 'By status', sqlQuery: 'select 1' });
  const plain = await report();
  const config = { title: 'Board', widgets: [chart(vega), chart(plain, 'b'), chart(vega, 'c')] };
  const dashboard = await publish({ config, allowEmbed: true });
  expect(dashboard).toMatchObject({
    deploymentId,
    workbookId,
    status: 'published',
    title: 'Board',
    allowEmbed: true,
    versionNumber: 1,
    config,
    fromSharedWorkspace: false,
    restrictDataDownload: false,
  });
  const [first, second] = dashboard.reportSnapshots;
  expect(dashboard.reportSnapshots).toHaveLength(2);
  expect(first).toMatchObject({ reportId: vega, kind: 'vega', title: 'By status', versionNumber: 1 });
  expect(first!.meta).toEqual({ query: QUERY, hasPython: true });
  expect(second).toMatchObject({ reportId: plain, kind: 'table', spec: {} });
  const spec = first!.spec as { data: object[]; marks: object[]; signals: object[]; config?: object };
  expect(spec.data[0]).toEqual({ name: 'rows' });
  expect(spec.marks.length).toBeGreaterThan(0);
  expect(JSON.stringify(dashboard)).not.toContain('containerSize');
  expect(JSON.stringify(dashboard)).not.toContain('print(1)');
  await world.admin.updateReport({ deploymentId, reportId: vega, body: { title: 'Changed' } });
  await world.admin.deleteReport({ deploymentId, reportId: plain });
  const { publicId } = dashboard;
  expect(await world.admin.getDashboard({ publicId })).toEqual(dashboard);
  const workbook = await world.admin.getWorkbook({ deploymentId, workbookId });
  expect(workbook).toMatchObject({ dashboardPublished: config, publishedDashboard: dashboard });
});

test('lists say what a published dashboard shows where, and nothing after it was taken back', async () => {
  const bars = await report({ chart: { kind: 'vega', spec: BARS } });
  const table = await report();
  const layer = [{ mark: { type: 'line' }, encoding: BARS.encoding }];
  const layered = await report({ chart: { kind: 'vega', spec: { layer } } });
  const at = (x: number, y: number) => ({ position: { x, y, w: 4, h: 4 } });
  const text = { ...chart(bars, 't'), ...at(0, 8), type: 'TEXT' as const, config: { markdown: 'Hello' } };
  const held = { ...text, id: 'held' };
  const box = {
    ...text,
    id: 'box',
    ...at(0, 12),
    type: 'CONTAINER' as const,
    config: { tabs: [{ widgets: ['held'] }] },
  };
  const charts = [
    { ...chart(layered, 'c'), ...at(8, 0) },
    chart(bars),
    { ...chart(table, 'b'), ...at(4, 0) },
  ];
  await publish({ config: { widgets: [text, held, box, ...charts] } });
  const outline = async () => {
    const { items } = await world.admin.workspaceObjects({ deploymentId, types: ['WORKBOOK'], first: 1000 });
    const item = items.find(({ id, type }) => type === 'WORKBOOK' && id === workbookId);
    return item && 'dashboardOutline' in item ? item.dashboardOutline : undefined;
  };
  expect((await outline())!.map(({ shows }) => shows)).toEqual(['column', 'table', 'line', 'text', 'text']);
  await world.admin.unpublishDashboard({ deploymentId, workbookId });
  expect(await outline()).toBeNull();
});

test.each(['regression', 'loess'])('a chart can have a %s of one field on another', async (kind) => {
  const [x, y] = ['x', 'y'].map((field) => ({ field, type: 'quantitative' }));
  const transform = [
    { calculate: 'length(datum.sales__status)', as: 'x' },
    { calculate: 'datum.x * 2', as: 'y' },
    { [kind]: 'y', on: 'x' },
  ];
  const spec = { mark: 'line', transform, encoding: { x, y } };
  const chartOf = { chart: { kind: 'vega', spec } };
  const { reportSnapshots } = await publish({ config: { widgets: [chart(await report(chartOf))] } });
  expect(reportSnapshots[0]!.spec).toMatchObject({
    data: [
      { name: 'rows' },
      { transform: expect.arrayContaining([expect.objectContaining({ type: kind })]) },
    ],
  });
  for (const on of [['x'], { events: 'click' }]) {
    const wrong = { ...spec, transform: [...transform.slice(0, 2), { [kind]: 'y', on }] };
    const widgets = [chart(await report({ chart: { kind: 'vega', spec: wrong } }))];
    expect(await refused({ config: { widgets } })).toMatchObject({
      status: 400,
      message: expect.stringContaining('cannot be used'),
    });
  }
});

const POINTS = {
  mark: 'point',
  encoding: { ...BARS.encoding, color: { field: 'event', type: 'nominal' } },
};
test.each<[string, object]>([
  ['a point', { select: 'point' }],
  ['the point under the pointer', { select: { type: 'point', on: 'pointerover', clear: 'pointerout' } }],
  ['the nearest point', { select: { type: 'point', nearest: true, toggle: false } }],
  ['an interval', { select: 'interval' }],
  ['an interval of one axis', { select: { type: 'interval', encodings: ['y'], zoom: false } }],
  ['the scales', { select: 'interval', bind: 'scales' }],
  ['the legend', { select: { type: 'point', fields: ['event'] }, bind: 'legend' }],
  ['an expression about a field that is called event', { expr: "{item: 1, event: 'event.x'}" }],
])('a chart can select: %s', async (_name, param) => {
  const transform = [
    { calculate: '{item: datum.sales__status}', as: 'event' },
    { calculate: "datum.event.item + datum['event']", as: 'b' },
  ];
  const spec = { ...POINTS, transform, params: [{ name: 'a', ...param }] };
  const dashboard = await publish({
    config: { widgets: [chart(await report({ chart: { kind: 'vega', spec } }))] },
  });
  expect(JSON.stringify(dashboard.reportSnapshots[0]!.spec)).toContain('"signals":[{"name":"');
});

test('without a config, the draft is published; without a draft, nothing', async () => {
  expect(await refused({})).toMatchObject({ status: 409, code: 'dashboard_without_draft' });
  const dashboardDraft = { description: 'Numbers', widgets: [chart(await report())] };
  await world.admin.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft } });
  const published = await publish({ workbookId });
  expect(published).toMatchObject({ title: 'Sales', description: 'Numbers', config: dashboardDraft });
  expect(await publish({ title: 'T', description: 'D', dashboardId: published.id })).toMatchObject({
    id: published.id,
    publicId: published.publicId,
    title: 'T',
    description: 'D',
    versionNumber: 2,
  });
});

test('versions that are published at once are numbered without gaps', async () => {
  const config = { widgets: [chart(await report())] };
  const all = await Promise.all(Array.from({ length: 8 }, () => publish({ config })));
  expect(new Set(all.map(({ publicId }) => publicId)).size).toBe(1);
  expect(all.map(({ versionNumber }) => versionNumber).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('the last 50 versions are kept', async () => {
  const { id } = await publish({ config: {} });
  const insert = `insert into dashboard_versions (dashboard_id, number, config, snapshots, bytes)
    select $1, n, '{}', '[]', 10 from generate_series(2, 60) n`;
  await world.server.db.pool.query(insert, [id]);
  await world.server.db.pool.query('update dashboards set version_number = 60 where id = $1', [id]);
  await publish({ config: {} });
  const { rows } = await world.server.db.pool.query(
    'select min(number), count(*)::int from dashboard_versions where dashboard_id = $1',
    [id],
  );
  expect(rows).toEqual([{ min: 12, count: 50 }]);
});

test('versions are kept until they hold 20 MB', async () => {
  const { id } = await publish({ config: {} });
  const insert = `insert into dashboard_versions (dashboard_id, number, config, snapshots, bytes)
    select $1, n, '{}', '[]', 8 * 1024 * 1024 from generate_series(2, 9) n`;
  await world.server.db.pool.query(insert, [id]);
  await world.server.db.pool.query('update dashboards set version_number = 9 where id = $1', [id]);
  await publish({ config: {} });
  const { rows } = await world.server.db.pool.query(
    'select number from dashboard_versions where dashboard_id = $1 order by number',
    [id],
  );
  expect(rows.map(({ number }) => number)).toEqual([8, 9, 10]);
});

test('a dashboard is read and published under its tag', async () => {
  const { publicId } = await publish({ config: {} });
  const path = `/api/v1/embed/dashboard/${publicId}`;
  const read = await world.raw('GET', path);
  const etag = read.headers.get('etag')!;
  const again = () => world.raw('GET', path, { headers: { 'if-none-match': etag } });
  expect((await again()).status).toBe(304);
  const send = (tag: string) =>
    world.raw('POST', `/api/v1/deployments/${deploymentId}/workbooks/${workbookId}/publish`, {
      headers: { 'content-type': 'application/json', 'if-match': tag },
      body: JSON.stringify({ config: {} }),
    });
  expect((await send('"another"')).status).toBe(412);
  const published = await send(etag);
  expect(published.status).toBe(200);
  expect((await send(etag)).status).toBe(412);
  const fresh = await again();
  expect(fresh.status).toBe(200);
  expect(fresh.headers.get('etag')).toBe(published.headers.get('etag'));
  expect(await world.admin.getDashboard({ publicId })).toMatchObject({ versionNumber: 2 });
});

describe('who may publish', () => {
  let editor: Person;
  beforeEach(async () => {
    editor = await world.person({ roles: ['Viewer'] });
    const policy = { resourceType: 'Workbook' as const, resourceId: workbookId, userId: editor.userId };
    await world.admin.setUserPolicy({ body: { ...policy, action: 'WorkbookEdit' } });
  });

  test('an editor publishes only reports that they can read', async () => {
    const reportId = await report();
    const body = { config: { widgets: [chart(reportId)] } };
    await expect(publish(body, editor.client)).rejects.toMatchObject({
      status: 400,
      code: 'invalid_reference',
    });
    const policy = { resourceType: 'Report' as const, resourceId: reportId, userId: editor.userId };
    await world.admin.setUserPolicy({ body: { ...policy, action: 'ReportRead' } });
    expect(await publish(body, editor.client)).toMatchObject({ versionNumber: 1, fromSharedWorkspace: true });
  });

  test('an editor places only applications that they may see', async () => {
    const { id } = await world.admin.createWorkbook({ deploymentId, body: { name: 'Application' } });
    const { publicId } = await world.admin.publishDashboard({
      ...{ deploymentId, workbookId: id },
      body: { config: { kind: 'APP', app: { html: '<p>Hello</p>' } } },
    });
    const refusalFor = (named: string) =>
      publish(
        { config: { widgets: [{ id: 'app', type: 'APP', position, config: { publicId: named } }] } },
        editor.client,
      ).catch(({ status, code, message }) => ({ status, code, message }));
    const refusal = await refusalFor(publicId);
    expect(refusal).toMatchObject({ status: 400, code: 'invalid_reference' });
    expect(refusal).toEqual(await refusalFor('NotThereAtAl'));
    const policy = { resourceType: 'Workbook' as const, resourceId: id, userId: editor.userId };
    await world.admin.setUserPolicy({ body: { ...policy, action: 'WorkbookRead' } });
    expect(await refusalFor(publicId)).toMatchObject({ versionNumber: 1 });
  });

  test('an editor does not decide whether it is embedded', async () => {
    const config = {};
    await expect(publish({ config, allowEmbed: true }, editor.client)).rejects.toMatchObject({ status: 403 });
    const { publicId } = await publish({ config, allowEmbed: true });
    expect(await publish({ config, allowEmbed: true }, editor.client)).toMatchObject({ allowEmbed: true });
    await expect(publish({ config, allowEmbed: false }, editor.client)).rejects.toMatchObject({
      status: 403,
    });
    const embed = (client = world.admin) =>
      client.updateDashboardEmbedding({ publicId, body: { allowEmbed: false } });
    await expect(embed(editor.client)).rejects.toMatchObject({ status: 403 });
    expect(await embed()).toEqual({ publicId, allowEmbed: false });
    expect(await embed()).toEqual({ publicId, allowEmbed: false });
  });
});

test('the thread of an AI widget is set in the published dashboard, under the checksum of the last', async () => {
  const set = (body: { threadId: string; widgetId: string; checksum?: string }) =>
    world.admin.updatePublishedDashboardAiWidgetThread({ deploymentId, workbookId, body });
  const first = { threadId: 'one', widgetId: 'ai' };
  await expect(set(first)).rejects.toMatchObject({ status: 409, code: 'not_published' });
  const ai: Widget = { id: 'ai', type: 'AI', position, config: { note: 'kept' } };
  const { publicId } = await publish({ config: { widgets: [ai] } });
  await expect(set({ ...first, widgetId: 'no' })).rejects.toMatchObject({ status: 400 });
  const configOf = ({ config }: { config: Config }) =>
    config.widgets![0]!.config as { threadId: string; checksum: string; note: string };
  const { threadId, checksum, note } = configOf(await set(first));
  expect([threadId, note]).toEqual(['one', 'kept']);
  const stale = set({ threadId: 'two', widgetId: 'ai', checksum: 'another' });
  await expect(stale).rejects.toMatchObject({ status: 409, code: 'thread_changed' });
  await set({ threadId: 'two', widgetId: 'ai', checksum });
  const again = set({ threadId: 'three', widgetId: 'ai', checksum });
  await expect(again).rejects.toMatchObject({ status: 409 });
  const underTag = await world.raw(
    'POST',
    `/api/v1/deployments/${deploymentId}/workbooks/${workbookId}/dashboard/ai-widget-thread`,
    {
      headers: { 'content-type': 'application/json', 'if-match': '"another"' },
      body: JSON.stringify({ threadId: 'three', widgetId: 'ai' }),
    },
  );
  expect(underTag.status).toBe(412);
  const shown = await world.admin.getDashboard({ publicId });
  expect(configOf(shown).threadId).toBe('two');
  expect(shown.versionNumber).toBe(1);
  const workbook = await world.admin.getWorkbook({ deploymentId, workbookId });
  expect(workbook.dashboardPublished).toEqual(shown.config);
});

test('the audit log holds what was published and how embedding changed', async () => {
  const { id, publicId } = await publish({ config: {} });
  await publish({ config: {}, allowEmbed: true });
  await world.admin.updateDashboardEmbedding({ publicId, body: { allowEmbed: false } });
  const { items } = await world.admin.listAuditLog({ resourceType: 'dashboard', resourceId: String(id) });
  expect(
    items.map(({ operation, deploymentId: at, before, after }) => ({ operation, at, before, after })),
  ).toMatchObject([
    {
      operation: 'updateDashboardEmbedding',
      at: deploymentId,
      before: { allowEmbed: true },
      after: { allowEmbed: false },
    },
    {
      operation: 'publishDashboard',
      before: { versionNumber: 1 },
      after: { versionNumber: 2, allowEmbed: true },
    },
    { operation: 'publishDashboard', before: null, after: { publicId, versionNumber: 1 } },
  ]);
});

test('a copy of a workbook is not published, and a deleted workbook takes its dashboard with it', async () => {
  const { publicId } = await publish({ config: {} });
  const copy = await world.admin.duplicateWorkbook({ deploymentId, workbookId, body: {} });
  const read = await world.admin.getWorkbook({ deploymentId, workbookId: copy.id });
  expect(read).toMatchObject({ dashboardPublished: null });
  await world.admin.deleteWorkbook({ deploymentId, workbookId });
  await expect(world.admin.getDashboard({ publicId })).rejects.toMatchObject({ code: 'dashboard_not_found' });
});

test('the charts of a copied workbook show the copies of its reports', async () => {
  const inside = await report(null, { workbookId });
  const outside = await report();
  const dashboardDraft = { widgets: [chart(inside), chart(outside, 'b')] };
  await world.admin.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft } });
  const copy = await world.admin.duplicateWorkbook({ deploymentId, workbookId, body: {} });
  const { items } = await world.admin.getReports({ deploymentId, workbookId: copy.id });
  const copied = items.find((item) => item.workbookId === copy.id)!.id;
  expect(copied).not.toBe(inside);
  expect(copy.dashboardDraft).toEqual({ widgets: [chart(copied), chart(outside, 'b')] });
});

test('whoever may only read a workbook sees nothing of its draft, by no operation', async () => {
  const reportId = await report(null, { workbookId });
  const published = { title: 'Shown', widgets: [chart(reportId)] };
  const dashboardDraft = { title: 'Secret', widgets: [] };
  await publish({ config: published });
  await world.admin.updateWorkbookDashboard({ deploymentId, workbookId, body: { dashboardDraft } });
  const resource = { resourceType: 'Workbook' as const, resourceId: workbookId };
  const given = async (action: 'WorkbookRead' | 'WorkbookEdit') => {
    const { client, userId } = await world.person({ roles: ['Viewer'] });
    await world.admin.setUserPolicy({ body: { ...resource, userId, action } });
    return client;
  };
  const everything = async (client: World['admin']) => {
    const workbook = await client.getWorkbook({ deploymentId, workbookId });
    const { items } = await client.getWorkbooks({ deploymentId });
    const shared = await client.workspaceObjects({ deploymentId, search: 'Sales' });
    return [
      workbook,
      items.find(({ id }) => id === workbookId),
      shared.items.find(({ id }) => id === workbookId),
    ];
  };
  const [reader, editor] = [await given('WorkbookRead'), await given('WorkbookEdit')];
  for (const seen of await everything(editor)) expect(seen).toMatchObject({ dashboardDraft });
  for (const seen of await everything(reader)) {
    expect(seen).toMatchObject({ id: workbookId, dashboardPublished: { title: 'Shown' } });
    expect(seen).not.toHaveProperty('dashboardDraft');
  }
  // Their copy begins with what they see.
  const role = await world.admin.createRole({
    body: { name: unique('role'), actions: ['DeploymentRead', 'AIBIExplore'] },
  });
  const { client: copier, userId } = await world.person({ roles: [role.name] });
  await world.admin.setUserPolicy({ body: { ...resource, userId, action: 'WorkbookRead' } });
  const copy = await copier.duplicateWorkbook({ deploymentId, workbookId, body: {} });
  expect(copy).toMatchObject({ dashboardDraft: { title: 'Shown', widgets: [{ id: 'a' }] } });
});

test('one number of columns is for all widths of the page', async () => {
  const { config } = await publish({ config: { widgets: [], layout: { cols: 12 } } });
  expect(config.layout).toEqual({ cols: 12 });
});
