import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type Person, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
let workbookId: number;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Sales' } })).id;
});
afterAll(() => world.stop());

type Publish = Parameters<World['admin']['publishDashboard']>[0]['body'];
type Config = NonNullable<Publish['config']>;
type Widget = NonNullable<Config['widgets']>[number];

const position = { x: 0, y: 0, w: 4, h: 4 };
const BARS = {
  mark: 'bar',
  encoding: {
    x: { field: 'sales__status', type: 'nominal' },
    y: { field: 'sales__revenue', type: 'quantitative' },
  },
};
const QUERY = { measures: ['sales.revenue'], dimensions: ['sales.status'] };

const report = async (meta: object | null = null, given: object = {}, at = deploymentId) =>
  (
    await world.admin.createReport({
      deploymentId: at,
      body: { name: 'Revenue', jsonQuery: JSON.stringify(QUERY), meta, ...given },
    })
  ).id;
const chart = (reportId: number, id = 'a'): Widget => ({ id, type: 'CHART', position, config: { reportId } });
const publish = (body: Publish, by = world.admin) => by.publishDashboard({ deploymentId, workbookId, body });
const refused = (body: Publish) => publish(body).catch((error: { status: number; message: string }) => error);

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

const POINTS = {
  mark: 'point',
  encoding: { ...BARS.encoding, color: { field: 'sales__event', type: 'nominal' } },
};
test.each<[string, object]>([
  ['a point', { select: 'point' }],
  ['the point under the pointer', { select: { type: 'point', on: 'pointerover', clear: 'pointerout' } }],
  ['the nearest point', { select: { type: 'point', nearest: true, toggle: false } }],
  ['an interval', { select: 'interval' }],
  ['an interval of one axis', { select: { type: 'interval', encodings: ['y'], zoom: false } }],
  ['the scales', { select: 'interval', bind: 'scales' }],
  ['the legend', { select: { type: 'point', fields: ['sales__event'] }, bind: 'legend' }],
  ['an expression about a field that is called event', { expr: "{item: 1, event: 'event.x'}" }],
])('a chart can select: %s', async (_name, param) => {
  const transform = [{ calculate: "datum.event.item + datum['item']", as: 'b' }];
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

describe('what can not be published is a 400 that names the place, and nothing is stored', () => {
  const wrong: [string, () => Promise<Config> | Config, string][] = [
    ['a widget id that is given twice', () => ({ widgets: [text('a'), text('a')] }), 'config.widgets[1].id'],
    ['a chart without a report', () => ({ widgets: [{ ...text('a'), type: 'CHART' }] }), '.config.reportId'],
    ['a report that does not exist', () => ({ widgets: [chart(999_999_999)] }), '.config.reportId'],
    [
      'a report of another deployment',
      async () => ({ widgets: [chart(await report(null, {}, (await world.deployment()).id))] }),
      'The widget `a` names a report that does not exist',
    ],
    [
      'a report without a query',
      async () => ({ widgets: [chart(await report(null, { jsonQuery: null }))] }),
      'no query',
    ],
    [
      'a query that is not JSON',
      async () => ({ widgets: [chart(await report(null, { jsonQuery: '{' }))] }),
      'jsonQuery',
    ],
    ['a filter without a member', () => ({ widgets: [{ ...text('a'), type: 'FILTER' }] }), '.config.member'],
    [
      'a filter of an unknown kind',
      () => ({ widgets: [{ ...text('a'), type: 'FILTER', config: { member: 'a.b', kind: 'dial' } }] }),
      '.config.kind',
    ],
    [
      'a time grain without grains',
      () => ({ widgets: [{ ...text('a'), type: 'TIME_GRAIN', config: { member: 'a.b' } }] }),
      '.config.grains',
    ],
    [
      'a text that is none',
      () => ({ widgets: [{ ...text('a'), config: { markdown: 1 } }] }),
      '.config.markdown',
    ],
    [
      'a long text',
      () => ({ widgets: [{ ...text('a'), config: { markdown: 'x'.repeat(200_000) } }] }),
      '100 KB',
    ],
    ['a container of nothing', () => ({ widgets: [container('a', ['b'])] }), '.config.widgets[0]'],
    [
      'a widget in two containers',
      () => ({ widgets: [container('a', ['c']), container('b', ['c']), text('c')] }),
      'is in a container already',
    ],
    [
      'containers in a circle',
      () => ({ widgets: [container('a', ['b']), tabs('b', ['a'])] }),
      'contains itself',
    ],
    ['data that are new too often', () => ({ settings: { refreshSeconds: 9 } }), 'settings.refreshSeconds'],
    ['data that are new too rarely', () => ({ settings: { refreshSeconds: 86_401 } }), 'from 10 to 86400'],
    ['a time that is no number', () => ({ settings: { refreshSeconds: '60' } }), 'settings.refreshSeconds'],
    ['a config of more than 1 MB', () => ({ settings: { x: 'x'.repeat(1_100_000) } }), 'larger than 1 MB'],
    [
      'an app of more than 5 MB',
      () => ({ kind: 'APP', app: { html: 'x'.repeat(5_300_000) } }),
      'larger than 5 MB',
    ],
    ['an app without a document', () => ({ kind: 'APP' }), 'needs `html`, or a file `index.html`'],
    [
      'an app that would have to be compiled',
      () => ({ kind: 'APP', app: { entry: 'main.ts', files: { 'main.ts': 'x' } } }),
      'ends with `.html`, `.js` or `.mjs`',
    ],
    [
      'an app of too many files',
      () => ({
        kind: 'APP',
        app: {
          html: 'x',
          files: Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`${i}.js`, ''])),
        },
      }),
      'more than 500 files',
    ],
    ['an unknown type', () => ({ widgets: [{ ...text('a'), type: 'CLOCK' as 'TEXT' }] }), 'widgets[0].type'],
  ];
  const text = (id: string): Widget => ({ id, type: 'TEXT', position });
  const container = (id: string, widgets: string[]): Widget => ({
    id,
    type: 'CONTAINER',
    position,
    config: { widgets },
  });
  const tabs = (id: string, widgets: string[]): Widget => ({
    id,
    type: 'CONTAINER',
    position,
    config: { tabs: [{ title: 'One', widgets }] },
  });
  test.each(wrong)('%s', async (_name, config, message) => {
    const error = await refused({ config: await config() });
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify(error)).toContain(message);
    const workbook = await world.admin.getWorkbook({ deploymentId, workbookId });
    expect(workbook).toMatchObject({ dashboardPublished: null });
    expect(workbook).not.toHaveProperty('publishedDashboard');
  });

  const specs: [string, object, string][] = [
    [
      'data from an address',
      { ...BARS, data: { url: 'https://example.com/rows.json' } },
      'at `data` must be absent',
    ],
    ['data of its own', { layer: [{ ...BARS, data: { values: [1] } }] }, 'layer[0].data'],
    ['pictures', { mark: 'point', encoding: { url: { field: 'a' } } }, 'encoding.url'],
    ['links', { ...BARS, encoding: { ...BARS.encoding, href: { value: 'x' } } }, 'encoding.href'],
    ['a script', { ...BARS, title: { text: 'javascript:alert(1)' } }, 'run a script'],
    ['colours', { ...BARS, config: { mark: { color: 'red' } } }, 'config'],
    [
      'an unknown mark',
      { mark: 'bar', encoding: { x: { field: 'a', type: 'nominal', axis: { labelExpr: 'nothing(' } } } },
      'does not compile',
    ],
    [
      'an expression that is none',
      { ...BARS, transform: [{ calculate: 'datum.a +', as: 'b' }] },
      'does not compile',
    ],
    ['a pointer', { ...BARS, mark: { type: 'bar', cursor: 'pointer' } }, 'at `mark.cursor`'],
    ['a param for the pointer', { ...BARS, params: [{ name: 'cursor', expr: "'auto'" }] }, 'params[0].name'],
    ['an input', withParam({ value: 1, bind: { input: 'range' } }), 'at `params[0].bind`'],
    [
      'an input for a selection',
      withParam({ select: { type: 'point', fields: ['a'] }, bind: { a: { input: 'password' } } }),
      'at `params[0].bind`',
    ],
    [
      'events of the window',
      withParam({ value: '', on: [{ events: 'window:keydown', update: 'event.key' }] }),
      'at `params[0].on`',
    ],
    [
      'a selection by events of the document',
      withParam({ select: { type: 'point', on: 'document:keydown' } }),
      'at `params[0].select.on`',
    ],
    [
      'a selection by events in a list',
      withParam({ select: { type: 'point', on: [{ source: 'body', type: 'click' }] } }),
      'at `params[0].select.on`',
    ],
    [
      'a selection that ends by events of the window',
      withParam({ select: { type: 'point', clear: 'window:keydown' } }),
      'at `params[0].select.clear`',
    ],
    [
      'a selection that moves by events of the window',
      withParam({
        select: { type: 'interval', translate: '[window:keydown, window:keyup] > window:keydown' },
      }),
      'at `params[0].select.translate`',
    ],
    [
      'a selection with code',
      withParam({ select: { type: 'point', toggle: 'event.target.ownerDocument' } }),
      'at `params[0].select.toggle`',
    ],
    [
      'a selection as they once were',
      { ...BARS, selection: { a: { type: 'single', on: 'window:keydown' } } },
      'at `selection`',
    ],
    [
      'a picture as colour',
      { ...BARS, mark: { type: 'bar', fill: 'URL(//a.example/b#c)' } },
      'at `mark.fill`',
    ],
    ['a picture by code', { ...BARS, mark: { type: 'bar', fill: { expr: "'url(' + 1" } } }, 'mark.fill.expr'],
    ['a mark of pictures', { mark: 'image', encoding: BARS.encoding }, 'at `mark`'],
    ['a mark of pictures with options', { mark: { type: 'image' }, encoding: {} }, 'at `mark.type`'],
    ['a loader', { ...BARS, loader: {} }, 'at `loader`'],
    ['an event', withParam({ expr: 'event.target' }), 'at `params[0].expr`'],
    ['an event in other letters', withParam({ expr: '\\u0065vent.item' }), 'at `params[0].expr`'],
    ['the view', { ...BARS, transform: [{ calculate: 'view()._el', as: 'b' }] }, 'transform[0].calculate'],
    ['an item', { ...BARS, mark: { type: 'bar', fill: { expr: "item['_svg']" } } }, 'at `mark.fill.expr`'],
    ['an item in a filter', { ...BARS, transform: [{ filter: { and: ['item().a'] } }] }, 'filter.and[0]'],
    ['half an expression', { ...BARS, transform: [{ filter: { not: 'a) || (event.b' } }] }, 'filter.not'],
    ['a deep nest', JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) as object, 'nested too deeply'],
  ];
  function withParam(param: object) {
    return { ...BARS, params: [{ name: 'a', ...param }] };
  }
  test.each(specs)('a chart with %s', async (_name, spec, message) => {
    const reportId = await report({ chart: { kind: 'vega', spec } });
    const error = await refused({ config: { widgets: [chart(reportId)] } });
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify(error)).toContain(message);
    expect(JSON.stringify(error)).toContain('The report `Revenue` of the widget `a`');
  });

  const charts: [string, object, string][] = [
    ['an unknown kind', { kind: 'pie' }, 'meta.chart.kind'],
    ['no measure', { kind: 'kpi', spec: {} }, 'meta.chart.spec.measure'],
    ['no place', { kind: 'map', spec: { measure: 'a.b' } }, 'meta.chart.spec.member'],
    ['an address that runs', { kind: 'table', spec: { link: 'javascript:1' } }, 'run a script'],
    ['columns that are no list', { kind: 'table', spec: { columns: 1 } }, 'meta.chart.spec.columns'],
    [
      'a comparison without an offset',
      { kind: 'table', periodComparisons: [{ measure: 'a' }] },
      'periodComparisons',
    ],
  ];
  test.each(charts)('a report with %s', async (_name, given, message) => {
    const error = await refused({ config: { widgets: [chart(await report({ chart: given }))] } });
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify(error)).toContain(message);
  });

  test('reports of more than 5 MB together', async () => {
    const large = () => report({ chart: { kind: 'table', spec: {} } }, { sqlQuery: 'x'.repeat(256 * 1024) });
    const ids = await Promise.all(Array.from({ length: 21 }, large));
    const error = await refused({ config: { widgets: ids.map((id) => chart(id, `w${id}`)) } });
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify(error)).toContain('larger than 5 MB');
  });

  test('another workbook, or the dashboard of another workbook', async () => {
    expect(await refused({ config: {}, workbookId: workbookId + 1 })).toMatchObject({ status: 400 });
    expect(await refused({ config: {}, dashboardId: 999_999_999 })).toMatchObject({ status: 400 });
    expect(await refused({})).toMatchObject({ code: 'dashboard_without_draft' });
  });
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
