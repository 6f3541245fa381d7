/** Every type of chart: its settings are compiled, and it draws the rows of the demo. */
import { createDrawing, createFormats, sayWith, tokensOf } from '@oriel/charts/pure';
import { texts } from '@oriel/charts/texts/de';
import { createView } from '@oriel/charts/vega';
import { VISUALIZATION_TYPES, type Visualization } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whenBuilt } from '../../../test/shops.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

const deploymentId = 1;
let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, deploymentId);
});
afterAll(() => world.stop());

type Row = Record<string, unknown>;
const MONTHS = [
  { dimension: 'sales.ordered_at', granularity: 'month', dateRange: ['2026-01-01', '2026-06-30'] },
];
const REVENUE = { measures: ['sales.revenue'] };
const BOTH = { measures: ['sales.units', 'sales.orders'] };
const BY_MONTH = { ...REVENUE, timeDimensions: MONTHS };
const BY_CATEGORY = { ...REVENUE, dimensions: ['sales.product_category'] };
/** Not every status has revenue. */
const BY_STATUS_AND_MONTH = {
  measures: ['sales.orders'],
  timeDimensions: MONTHS,
  dimensions: ['sales.status'],
};
const THREE = {
  measures: ['sales.revenue', 'sales.orders', 'sales.units'],
  dimensions: ['sales.product_category'],
};

const rowsOf = async (query: object): Promise<Row[]> => {
  const response = await world.raw('POST', `/query/api/v1/deployments/${deploymentId}/load`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data } = (await response.json()) as { data: Row[] };
  return data;
};

const preview = (visualization: object, query: object) =>
  world.admin.previewReport({
    deploymentId,
    body: { jsonQuery: JSON.stringify(query), meta: { visualization } },
  });

/** As pages do it. */
const valuesOf = (rows: Row[]) =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([member, value]) => {
        const isNumber = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
        const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
        const read = isNumber ? Number(value) : isTime ? Date.parse(`${value}Z`) : value;
        return [member.replaceAll('.', '__'), read];
      }),
    ),
  );

interface Mark {
  marktype: string;
  role: string;
  items: { items?: Mark[]; datum?: unknown; [channel: string]: unknown }[];
}

const fail = (error: Error) => {
  throw error;
};

/** The shapes that stand for rows, without axes and legends, by the kind of mark. */
async function drawn(spec: object, rows: Row[]): Promise<Record<string, number>> {
  const given = structuredClone(spec) as { data: { name: string; values?: Row[] }[] };
  for (const source of given.data) if (source.name === 'rows') source.values = valuesOf(rows);
  const view = createView(given, {}, {}, () => ({}), fail, 'none')
    .width(400)
    .height(300);
  await view.runAsync();
  const counts: Record<string, number> = {};
  const visit = ({ marktype, role, items }: Mark) => {
    for (const item of items) {
      if (role === 'mark' && marktype !== 'group') {
        counts[marktype] = (counts[marktype] ?? 0) + 1;
        for (const channel of ['x', 'y', 'x2', 'y2', 'startAngle', 'endAngle'])
          expect(item[channel] ?? 0, `${marktype}.${channel}`).not.toBeNaN();
      }
      for (const inner of item.items ?? []) visit(inner);
    }
  };
  visit((view.scenegraph() as unknown as { root: Mark }).root);
  view.finalize();
  return counts;
}

type Case = [visualization: Visualization, query: object, marks: (rows: Row[]) => Record<string, number>];
const each = (mark: string) => (rows: Row[]) => ({ [mark]: rows.length });
const valuesIn = (rows: Row[], member: string) => new Set(rows.map((row) => row[member])).size;
const STATUS = 'sales.status';

const CHANNEL_AND_STATUS = { measures: ['sales.orders'], dimensions: ['sales.channel', STATUS] };
const BY_CHANNEL = { facet: 'sales.channel' };

const CASES: Case[] = [
  [
    { type: 'donut', labels: 'value', fields: BY_CHANNEL },
    CHANNEL_AND_STATUS,
    (rows) => ({ arc: rows.length, text: expect.any(Number) as never }),
  ],
  [
    { type: 'funnel', fields: BY_CHANNEL },
    CHANNEL_AND_STATUS,
    (rows) => ({ rect: rows.length, text: rows.length }),
  ],
  [{ type: 'waterfall', fields: BY_CHANNEL }, CHANNEL_AND_STATUS, each('rect')],
  [{ type: 'heatmap', fields: BY_CHANNEL }, { ...CHANNEL_AND_STATUS, timeDimensions: MONTHS }, each('rect')],
  [{ type: 'bar' }, BY_CATEGORY, each('rect')],
  [
    { type: 'column', sort: { by: 'value', desc: true }, labels: 'value' },
    BY_CATEGORY,
    (rows) => ({ rect: rows.length, text: rows.length }),
  ],
  [{ type: 'column' }, BY_MONTH, each('rect')],
  [{ type: 'column' }, BY_STATUS_AND_MONTH, each('rect')],
  [{ type: 'column', stacking: 'none' }, BY_STATUS_AND_MONTH, each('rect')],
  [
    { type: 'column', stacking: 'percent', labels: 'value' },
    BY_STATUS_AND_MONTH,
    (rows) => ({ rect: rows.length, text: rows.length }),
  ],
  [{ type: 'column' }, { ...BOTH, dimensions: [STATUS] }, (rows) => ({ rect: 2 * rows.length })],
  [
    { type: 'bar', stacking: 'stacked' },
    { ...BOTH, dimensions: [STATUS] },
    (rows) => ({ rect: 2 * rows.length }),
  ],
  [
    { type: 'column' },
    { ...BOTH, dimensions: [STATUS], timeDimensions: MONTHS },
    (rows) => ({ rect: 2 * rows.length }),
  ],
  [
    {
      type: 'line',
      points: true,
      references: [
        { measure: 'average', label: 'Average' },
        { value: 10, to: 20 },
      ],
    },
    BY_MONTH,
    (rows) => ({ line: rows.length, symbol: rows.length, rule: 1, text: 1, rect: 1 }),
  ],
  [{ type: 'line', curve: 'smooth', emptyValues: 'connect' }, BY_STATUS_AND_MONTH, each('line')],
  [
    { type: 'line', emptyValues: 'zero' },
    { ...BOTH, timeDimensions: MONTHS },
    (rows) => ({ line: 2 * rows.length }),
  ],
  [
    { type: 'area', stacking: 'percent' },
    BY_STATUS_AND_MONTH,
    (rows) => ({ area: rows.length, line: rows.length }),
  ],
  [
    { type: 'combo' },
    { measures: ['sales.revenue', 'sales.completion_rate'], timeDimensions: MONTHS },
    (rows) => ({ rect: rows.length, line: rows.length }),
  ],
  [
    {
      type: 'combo',
      series: {
        'sales.orders': { mark: 'area', axis: 'left' },
        'sales.units': { mark: 'column', axis: 'right', title: 'Pieces', color: '#112233' },
      },
    },
    THREE,
    (rows) => ({ rect: 2 * rows.length, area: rows.length, line: rows.length }),
  ],
  [{ type: 'pie' }, BY_CATEGORY, each('arc')],
  [{ type: 'donut', labels: 'percent' }, BOTH, () => ({ arc: 2, text: 2 })],
  [
    { type: 'scatter', references: [{ value: 5 }] },
    { ...BOTH, dimensions: ['sales.product_category'] },
    (rows) => ({ symbol: rows.length, rule: 1 }),
  ],
  [
    { type: 'bubble', fields: { color: 'sales.product_category' }, palette: ['#112233', '#445566'] },
    THREE,
    each('symbol'),
  ],
  [
    { type: 'heatmap', labels: 'value' },
    BY_STATUS_AND_MONTH,
    (rows) => ({ rect: rows.length, text: rows.length }),
  ],
  [
    { type: 'histogram', bins: 5 },
    { measures: ['sales.orders'], dimensions: ['sales.customer_name'], limit: 100 },
    () => ({}),
  ],
  [
    { type: 'boxplot', fields: { x: 'sales.product_category', detail: 'sales.product_name' } },
    { ...REVENUE, dimensions: ['sales.product_category', 'sales.product_name'] },
    (rows) => ({ rule: 2 * valuesIn(rows, 'sales.product_category') }),
  ],
  [
    { type: 'funnel' },
    { measures: ['sales.orders'], dimensions: [STATUS], order: { 'sales.orders': 'desc' } },
    (rows) => ({ rect: rows.length, text: rows.length }),
  ],
  [{ type: 'waterfall', labels: 'value' }, BY_MONTH, (rows) => ({ rect: rows.length, text: rows.length })],
  [{ type: 'gauge', target: 0.9 }, { measures: ['sales.completion_rate'] }, () => ({ arc: 3, text: 1 })],
  [{ type: 'gauge' }, REVENUE, () => ({ arc: 2, text: 1 })],
  [{ type: 'line', fields: { facet: STATUS }, facetColumns: 2 }, BY_STATUS_AND_MONTH, each('line')],
];

describe('charts', () => {
  test.each(
    CASES.map(
      ([visualization, ...rest]) =>
        [JSON.stringify(visualization).slice(0, 90), visualization, ...rest] as const,
    ),
  )('%s', async (_name, visualization, query, marks) => {
    const made = await preview(visualization, query);
    expect(made.kind).toBe('vega');
    const rows = await rowsOf(query);
    expect(rows.length).toBeGreaterThan(0);
    const counts = await drawn(made.spec!, rows);
    expect(counts).toMatchObject(marks(rows));
    expect(Object.values(counts).every((count) => count > 0) && Object.keys(counts).length > 0).toBe(true);
  });

  test.each([
    [
      { type: 'table', columns: [{ member: 'sales.revenue', bar: true }], totals: true },
      BY_CATEGORY,
      'table',
      {
        totals: true,
        columns: [{ member: 'sales.revenue', bar: true }, { member: 'sales.product_category' }],
      },
    ],
    [
      { type: 'pivot', fields: { columns: [STATUS] } },
      BY_STATUS_AND_MONTH,
      'table',
      {
        totals: true,
        pivot: { rows: ['sales.ordered_at.month'], columns: [STATUS], measures: ['sales.orders'] },
      },
    ],
    [
      {
        type: 'kpi',
        comparison: { timeDimension: 'sales.ordered_at', offset: { amount: 1, unit: 'year' } },
        sparkline: { timeDimension: 'sales.ordered_at', granularity: 'month' },
      },
      REVENUE,
      'kpi',
      { measure: 'sales.revenue', sparkline: { granularity: 'month' } },
    ],
    [
      { type: 'map' },
      { ...REVENUE, dimensions: ['sales.customer_country_code'] },
      'map',
      { member: 'sales.customer_country_code', measure: 'sales.revenue' },
    ],
    [
      {
        type: 'pointMap',
        fields: { latitude: 'sales.revenue', longitude: 'sales.orders', size: 'sales.revenue' },
      },
      { measures: ['sales.revenue', 'sales.orders'], dimensions: ['sales.customer_country_code'] },
      'map',
      { latitude: 'sales.revenue', longitude: 'sales.orders', member: 'sales.customer_country_code' },
    ],
    [
      { type: 'text', text: 'Revenue: {{ sales.revenue }} <b>&' },
      REVENUE,
      'html',
      { template: '<p>Revenue: {{ sales.revenue }} &lt;b&gt;&amp;</p>' },
    ],
  ])('%j is drawn by the page itself', async (visualization, query, kind, spec) => {
    expect(await preview(visualization, query)).toMatchObject({ kind, spec });
  });

  const compared = (type: 'line' | 'area' | 'column' | 'bar', more: Partial<Visualization> = {}) => ({
    type,
    periodComparisons: [
      {
        measure: 'sales.revenue',
        timeDimension: 'sales.ordered_at',
        offset: { amount: 1, unit: 'year' as const },
      },
    ],
    ...more,
  });
  const RANGE = [{ dimension: 'sales.ordered_at', dateRange: ['2026-01-01', '2026-06-30'] }];
  const SPLIT = { ...BY_MONTH, dimensions: ['sales.channel'] };
  test.each([
    [compared('line'), BY_MONTH, { line: 2 }],
    // An area has a line of its own.
    [compared('area'), BY_MONTH, { area: 1, line: 2 }],
    [compared('column'), BY_MONTH, { rect: 2 }],
    [compared('bar'), { ...BY_CATEGORY, timeDimensions: RANGE }, { rect: 2 }],
    // A series has its colour in both periods.
    [compared('column'), SPLIT, { rect: 2 }],
    [compared('bar'), SPLIT, { rect: 2 }],
    [compared('line'), SPLIT, { line: 2 }],
    [compared('area', { stacking: 'none' }), SPLIT, { area: 1, line: 2 }],
    // No earlier period: too many series to tell apart, stacking, no values, or a time that is not in the query.
    [compared('column'), { ...SPLIT, measures: ['sales.revenue', 'sales.orders'] }, { rect: 2 }],
    [compared('area'), SPLIT, { area: 1 }],
    [compared('column', { stacking: 'stacked' }), BY_MONTH, { rect: 1 }],
    [compared('column'), BY_CATEGORY, { rect: 1 }],
  ] as const)(
    '%j of %j has the earlier period beside the one that it shows',
    async (visualization, query, marks) => {
      const made = await preview(visualization, query);
      const rows = (await rowsOf(query)).map((row) => ({ ...row, 'sales.revenue.previous': 1 }));
      const counts = await drawn(made.spec!, rows);
      for (const [mark, each] of Object.entries(marks))
        expect([mark, counts[mark]]).toEqual([mark, each * rows.length]);
    },
  );

  test.each([
    ['line', BY_MONTH, 'Revenue, zuvor'],
    ['line', SPLIT, 'Revenue, zuvor'],
    ['column', SPLIT, 'Revenue, zuvor'],
  ] as const)('a %s of %j names the earlier period in the words of the page', async (type, query, name) => {
    const { spec, kind } = await preview(compared(type), query);
    const rows = (await rowsOf(query)).map((row) => ({ ...row, 'sales.revenue.previous': 1 }));
    const revenue = { title: 'Revenue', shortTitle: 'Revenue', type: 'number' };
    const month = { title: 'Month', shortTitle: 'Month', type: 'time' };
    const result = {
      query,
      data: rows,
      annotation: {
        measures: { 'sales.revenue': revenue },
        dimensions: {},
        timeDimensions: { 'sales.ordered_at.month': month },
      },
    };
    const drawing = createDrawing(
      { reportId: 1, kind, spec, meta: { query } } as never,
      { rows, result, query } as never,
    );
    const {
      spec: shown,
      locale,
      labels,
      config,
    } = drawing.draw(
      {
        tokens: tokensOf('light', []),
        formats: createFormats('de', sayWith(texts)),
        locale: 'de',
        isRightToLeft: false,
      },
      { width: 600, height: 300, measure: (text) => text.length * 6 },
    );
    const view = createView(shown, config, locale, labels, fail, 'none');
    const svg = await view.toSVG();
    view.finalize();
    expect(svg).toContain(`>${name}<`);
    expect(svg).not.toContain(', previous<');
  });

  test('there is a case of every type', () => {
    const types = new Set([
      ...CASES.map(([{ type }]) => type),
      'table',
      'pivot',
      'kpi',
      'map',
      'pointMap',
      'text',
    ]);
    expect(VISUALIZATION_TYPES.filter((type) => !types.has(type))).toEqual([]);
  });
});

test('what publishing refuses is refused with its place', async () => {
  const wrong = [
    [{ type: 'heatmap' }, BY_CATEGORY, 'meta.visualization.fields.color', 'needs a dimension'],
    [{ type: 'pie', palette: ['red'] }, BY_CATEGORY, 'meta.visualization.palette', '#3451c6'],
    [{ type: 'cake' }, BY_CATEGORY, 'meta.visualization.type', ''],
    [{ type: 'line' }, { ...BY_CATEGORY, measures: ['sales.profit'] }, 'jsonQuery', 'profit'],
    [
      { type: 'line' },
      { measures: 7, dimensions: [null], timeDimensions: [{}, 'x'] },
      'meta.visualization.fields.y',
      'measure',
    ],
  ] as const;
  for (const [visualization, query, path, words] of wrong) {
    const refusal = await preview(visualization, query).catch((error) => error);
    expect(refusal).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(refusal.issues[0].path).toContain(path);
    expect(refusal.message).toContain(words);
  }
});

test('a dashboard is published with what the settings became, and texts in them are nothing else', async () => {
  const texts = `'"]); \u2028 \${alert(1)} </script><img src=x onerror=alert(1)> datum.x {{ a }} \\`;
  const visualization = {
    type: 'line',
    series: { 'sales.units': { title: texts }, 'sales.orders': { title: texts } },
    axes: { y: { title: texts } },
    references: [{ value: 3, label: texts }],
  };
  const query = { ...BOTH, timeDimensions: MONTHS };
  const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: { name: 'Settings' } });
  const report = await world.admin.createReport({
    deploymentId,
    body: {
      name: 'Orders',
      workbookId,
      jsonQuery: JSON.stringify(query),
      meta: { visualization, chart: { kind: 'table' } },
    },
  });
  const position = { x: 0, y: 0, w: 6, h: 6 };
  const widgets = [{ id: 'a', type: 'CHART' as const, position, config: { reportId: report.id } }];
  const dashboard = await world.admin.publishDashboard({
    deploymentId,
    workbookId,
    body: { config: { widgets } },
  });
  const [snapshot] = dashboard.reportSnapshots;
  const { source: _source, ...previewed } = await preview(visualization, query);
  expect(snapshot).toMatchObject(previewed);
  expect(await drawn(snapshot!.spec!, await rowsOf(query))).toMatchObject({ text: 1, rule: 1 });
});

test('creators see previews of what they may query, and viewers do not', async () => {
  const body = { jsonQuery: JSON.stringify(BY_CATEGORY), meta: { visualization: { type: 'pie' } } };
  const session = { deploymentId, externalId: 'eve', embedTenantName: 'acme-corp' };
  const creator = await world.embedded({ ...session, creatorMode: true });
  expect(await creator.client.previewReport({ deploymentId, body })).toMatchObject({ kind: 'vega' });
  const viewer = await world.embedded({ ...session, externalId: 'bob' });
  await expect(viewer.client.previewReport({ deploymentId, body })).rejects.toMatchObject({ status: 403 });
  const person = await world.person();
  await world.admin.updateUser({ id: person.userId, body: { roles: ['Viewer'] } });
  await expect(person.client.previewReport({ deploymentId, body })).rejects.toMatchObject({ status: 403 });
});
