/** Charts that cannot work are not published: queries that cannot be planned, and fields that the query does not give. */
import type { OrielError } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createShop, deployModel, SHOP_MODEL } from '../../../test/shops.ts';
import { createWorld, type World } from '../../../test/world.ts';

const MARGINS = {
  'model/cubes/margins.yml': `cubes:
  - name: margins
    sql_table: files.orders
    measures:
      - { name: count, type: count }
      - { name: margin, sql: amount, type: sum }
    access_policy: [{ group: "*", member_level: { excludes: [margin] } }]
`,
  'model/cubes/balances.yml': `cubes:
  - name: balances
    sql_table: files.orders
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: at, sql: ordered_at, type: time }
    measures:
      - { name: balance, sql: amount, type: sum, rolling_window: { trailing: unbounded } }
    access_policy: [{ group: "*" }]
`,
};

let world: World;
let deploymentId: number;
let workbookId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world, { ...SHOP_MODEL, ...MARGINS });
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Sales' } })).id;
});
afterAll(() => world.stop());

const position = { x: 0, y: 0, w: 4, h: 4 };
const MONTHS = [{ dimension: 'sales.ordered_at', granularity: 'month' }];
const QUERY = { measures: ['sales.amount'], dimensions: ['sales.status'], timeDimensions: MONTHS };

type Chart = Record<string, unknown>;
async function report(chart: Chart | null, query: object = QUERY) {
  const body = { name: 'Amounts', jsonQuery: JSON.stringify(query), ...(chart ? { meta: { chart } } : {}) };
  const { id } = await world.admin.createReport({ deploymentId, body });
  return { id: 'amounts', type: 'CHART' as const, position, config: { reportId: id } };
}
type Widgets = {
  id: string;
  type: 'CHART' | 'FILTER' | 'TIME_GRAIN';
  position: typeof position;
  config: object;
}[];
const publish = (widgets: Widgets, by = world.admin) =>
  by.publishDashboard({ deploymentId, workbookId, body: { config: { widgets } } });
const issuesOf = (widgets: Widgets, by = world.admin) =>
  publish(widgets, by).then(
    () => [],
    (error: OrielError & { issues: { path: string; message: string }[] }) => {
      expect(error.status).toBe(400);
      return error.issues;
    },
  );

const vega = (encoding: object, more: object = {}) => ({
  kind: 'vega',
  spec: { mark: 'bar', encoding, ...more },
});
const x = { field: 'sales__status', type: 'nominal' };
const y = (field: string) => ({ field, type: 'quantitative' });

test.each<[string, Chart | null, object, string]>([
  ['an unknown measure', null, { measures: ['sales.amuont'] }, 'sales.amuont'],
  ['an unknown cube', null, { measures: ['shop.amount'] }, 'shop.amount'],
  ['a measure among dimensions', null, { dimensions: ['sales.amount'] }, 'sales.amount'],
  [
    'a time that is none',
    null,
    { ...QUERY, timeDimensions: [{ dimension: 'sales.status' }] },
    'sales.status',
  ],
  [
    'an unknown member of a filter',
    null,
    { ...QUERY, filters: [{ or: [{ member: 'sales.nothing', operator: 'set' }] }] },
    'sales.nothing',
  ],
  [
    'an order',
    null,
    {
      ...QUERY,
      order: [
        ['sales.amount', 'desc'],
        ['sales.name', 'asc'],
      ],
    },
    'sales.name',
  ],
  ['a column', { kind: 'table', spec: { columns: [{ member: 'sales.name' }] } }, QUERY, 'sales.name'],
  ['a sort of a table', { kind: 'table', spec: { sort: [{ member: 'sales.name' }] } }, QUERY, 'sales.name'],
  ['a figure', { kind: 'kpi', spec: { measure: 'sales.count' } }, QUERY, 'sales.count'],
  [
    'a map',
    { kind: 'map', spec: { member: 'sales.region', measure: 'sales.amount' } },
    QUERY,
    'sales.region',
  ],
  ['a template', { kind: 'html', spec: { template: '{{ sales.name }}' } }, QUERY, 'sales.name'],
  ['a field', vega({ x, y: y('sales__count') }), QUERY, 'sales__count'],
  ['a member with its dot', vega({ x, y: y('sales\\.amount') }), QUERY, 'sales.amount'],
  ['a time without granularity', vega({ x: y('sales__ordered_at__day') }), QUERY, 'sales__ordered_at__day'],
  [
    'a comparison that is not made',
    vega({ x, y: y('sales__amount__previous') }),
    QUERY,
    'sales__amount__previous',
  ],
  [
    'a field of a layer',
    vega({ x }, { layer: [{ mark: 'bar', encoding: { y: y('nothing') } }] }),
    QUERY,
    'nothing',
  ],
  [
    'a repeated field',
    { kind: 'vega', spec: { repeat: ['nothing'], spec: { mark: 'bar' } } },
    QUERY,
    'nothing',
  ],
  ['a facet', vega({ x, column: { field: 'nothing' } }), QUERY, 'nothing'],
  [
    'an input of a transform',
    vega({ x }, { transform: [{ calculate: 'datum.nothing * 2', as: 'a' }] }),
    QUERY,
    'nothing',
  ],
  [
    'a group of a transform',
    vega({ x }, { transform: [{ aggregate: [], groupby: ['nothing'] }] }),
    QUERY,
    'nothing',
  ],
  [
    'a compared measure',
    {
      kind: 'table',
      periodComparisons: [
        { measure: 'sales.count', timeDimension: 'sales.ordered_at', offset: { amount: 1, unit: 'year' } },
      ],
    },
    QUERY,
    'sales.count',
  ],
])('%s that there is not', async (_name, chart, query, field) => {
  const issues = await issuesOf([await report(chart, query)]);
  expect(issues).toHaveLength(1);
  expect(issues[0]!.path).toBe('config.widgets[0].config.reportId');
  expect(issues[0]!.message).toContain('The report `Amounts` of the widget `amounts`: ');
  expect(issues[0]!.message).toContain(`\`${field}\``);
});

const MONTHLY = { dimension: 'sales.ordered_at', granularity: 'month' };
const queryWith = (more: object) => ({ ...QUERY, ...more });

test.each<[string, object, string]>([
  [
    'another form of rows',
    queryWith({ responseFormat: 'columnar' }),
    'jsonQuery.responseFormat: Rows come as',
  ],
  ['hints that are no list', queryWith({ joinHints: 'orders' }), 'jsonQuery.joinHints: This must be a list'],
  ['hints of a view', queryWith({ joinHints: [['orders', 'customers']] }), 'has its own join paths'],
  [
    'an unknown operator',
    queryWith({ filters: [{ member: 'sales.status', operator: 'like', values: ['a'] }] }),
    'jsonQuery.filters[0].operator: There is no such operator',
  ],
  [
    'an operator that is nearly one',
    queryWith({ filters: [{ member: 'sales.status', operator: 'equal', values: ['a'] }] }),
    'Did you mean `equals`?',
  ],
  [
    'an empty group beside a member',
    queryWith({ filters: [{ member: 'sales.status', or: [] }] }),
    'jsonQuery.filters[0].member: A filter with `or` has nothing beside it',
  ],
  [
    'an unknown key',
    queryWith({ measurse: [] }),
    'jsonQuery.measurse: There is no such key. Did you mean `measures`?',
  ],
  [
    'an unknown time zone',
    queryWith({ timezone: 'Mars/Base' }),
    'jsonQuery.timezone: There is no such time zone',
  ],
  [
    'an unknown range',
    queryWith({ timeDimensions: [{ ...MONTHLY, dateRange: 'last fortnight' }] }),
    'jsonQuery.timeDimensions[0].dateRange: This is not a date range',
  ],
  ['a negative limit', queryWith({ limit: -1 }), 'jsonQuery.limit: This must be a whole number'],
  ['nothing', {}, 'jsonQuery: A query needs a measure'],
  [
    'an unknown granularity',
    queryWith({ timeDimensions: [{ ...MONTHLY, granularity: 'monthly' }] }),
    'jsonQuery.timeDimensions[0].granularity: `sales.ordered_at` has no such granularity. Did you mean `month`?',
  ],
  [
    'a rolling measure without a range',
    { measures: ['balances.balance'] },
    'needs one time dimension with a date range',
  ],
  [
    'a number that is a text',
    queryWith({ filters: [{ member: 'sales.amount', operator: 'gt', values: ['abc'] }] }),
    'jsonQuery.filters[0]',
  ],
  [
    'a view and a cube',
    { measures: ['sales.amount'], dimensions: ['customers.region'] },
    'A query is for one view, or for cubes',
  ],
  ['cubes that nothing joins', { measures: ['balances.balance', 'margins.count'] }, 'jsonQuery: '],
])('a query with %s is refused in the words of the planner', async (_name, query, said) => {
  const issues = await issuesOf([await report(null, query)]);
  expect(new Set(issues.map(({ path }) => path))).toEqual(new Set(['config.widgets[0].config.reportId']));
  expect(issues[0]!.message).toMatch(/^The report `Amounts` of the widget `amounts`: .*[^.][.?]$/);
  expect(issues[0]!.message).toContain(said);
});

test('several queries with SQL among them are planned together, and all that is wrong is told', async () => {
  const sql = async (sqlQuery: string, id: string) => {
    const { id: reportId } = await world.admin.createReport({
      deploymentId,
      body: { name: id, sqlQuery },
    });
    return { id, type: 'CHART' as const, position, config: { reportId } };
  };
  const widgets = [
    await sql('select count(*) from sales', 'good'),
    await sql('select nothing from sales', 'column'),
    { ...(await report(null, { ...QUERY, limit: -1 })), id: 'limit' },
    await sql('selec 1', 'words'),
    ...(await Promise.all(
      [...Array(9).keys()].map(async (i) => ({ ...(await report(null)), id: `fine ${i}` })),
    )),
    { ...(await report(null, {})), id: 'empty' },
  ];
  const issues = await issuesOf(widgets);
  expect(issues.map(({ path, message }) => [path, message.split(':')[1]])).toEqual([
    ['config.widgets[1].config.reportId', ' sqlQuery'],
    ['config.widgets[2].config.reportId', ' jsonQuery.limit'],
    ['config.widgets[3].config.reportId', ' sqlQuery'],
    ['config.widgets[13].config.reportId', ' jsonQuery'],
  ]);
});

const kpi = (spec: object) => ({ kind: 'kpi', spec: { measure: 'sales.amount', ...spec } });
const offset = { amount: 1, unit: 'month' };
test.each<[string, Chart, string]>([
  [
    'a compared period of an unknown time',
    kpi({ comparison: { type: 'period', periodComparison: { timeDimension: 'sales.nothing', offset } } }),
    'meta.chart.spec.comparison.periodComparison.timeDimension: there is no time `sales.nothing`',
  ],
  [
    'a compared query that cannot work',
    kpi({ comparison: { query: { ...QUERY, limit: -1 } } }),
    'meta.chart.spec.comparison.query.limit: ',
  ],
  [
    'a trend by an unknown granularity',
    kpi({ sparkline: { timeDimension: 'sales.ordered_at', granularity: 'monthly' } }),
    'meta.chart.spec.sparkline.timeDimensions[0].granularity: ',
  ],
])('a figure with %s', async (_name, chart, said) => {
  const issues = await issuesOf([await report(chart)]);
  expect(issues).toEqual([
    { path: 'config.widgets[0].config.reportId', message: expect.stringContaining(said) },
  ]);
});

test('a rolling measure is published where a filter gives it a range from the beginning', async () => {
  const chart = await report(null, { measures: ['balances.balance'] });
  const filter = (config: object) => ({
    ...{ id: 'range', type: 'FILTER' as const, position },
    config: { member: 'balances.at', kind: 'date-range', ...config },
  });
  const range = { default: { operator: 'between', value: ['2024-01-01', '2024-12-31'] } };
  expect(await issuesOf([chart, filter({})])).toHaveLength(1);
  expect(await issuesOf([chart, filter({ ...range, widgets: ['amounts'] })])).toEqual([]);
  expect(await issuesOf([chart, filter(range)])).toEqual([]);
});

test.each<[string, Chart | null, object]>([
  ['times by month', vega({ x: y('sales__ordered_at__month'), y: y('sales__amount') }), QUERY],
  ['plain times', vega({ x: y('sales__ordered_at') }), QUERY],
  [
    'comparisons',
    {
      ...vega({ x, y: y('sales__amount__previous') }),
      periodComparisons: [
        { measure: 'sales.amount', timeDimension: 'sales.ordered_at', offset: { amount: 1, unit: 'year' } },
      ],
    },
    QUERY,
  ],
  [
    'what transforms make',
    vega(
      {
        x: y('twice'),
        y: { ...y('value'), sort: { field: 'rank' } },
        color: y('key'),
        detail: y('bins_end'),
      },
      {
        transform: [
          { calculate: 'datum.sales__amount * 2', as: 'twice' },
          { window: [{ op: 'rank', as: 'rank' }], sort: [{ field: 'twice' }] },
          { bin: true, field: 'twice', as: 'bins' },
          { fold: ['sales__amount', 'twice'] },
        ],
      },
    ),
    QUERY,
  ],
  [
    'a pivot',
    vega({ x: y('done') }, { transform: [{ pivot: 'sales__status', value: 'sales__amount' }] }),
    QUERY,
  ],
  ['sums', vega({ x, y: { ...y('sales__amount'), aggregate: 'sum' }, order: y('sum_sales__amount') }), QUERY],
  [
    'repeats',
    {
      kind: 'vega',
      spec: {
        repeat: { row: ['sales__amount', 'sales__count'] },
        spec: { mark: 'bar', encoding: { y: { field: { repeat: 'row' }, type: 'quantitative' } } },
      },
    },
    { ...QUERY, measures: ['sales.amount', 'sales.count'] },
  ],
  ['tables of times', { kind: 'table', spec: { columns: [{ member: 'sales.ordered_at' }] } }, QUERY],
  ['no chart', null, QUERY],
])('charts with %s are published', async (_name, chart, query) => {
  expect(await issuesOf([await report(chart, query)])).toEqual([]);
});

test('a compared measure that is not there is offered those that are', async () => {
  const periodComparisons = [
    { measure: 'sales.count', timeDimension: 'sales.ordered_at', offset: { amount: 1, unit: 'year' } },
  ];
  const [issue] = await issuesOf([await report({ kind: 'table', periodComparisons })]);
  expect(issue!.message).toMatch(/which the query does not give; it gives `sales\.amount`\.$/);
});

test('all that is wrong is said at once', async () => {
  const chart = vega({ x: y('one'), y: y('two') });
  const issues = await issuesOf([await report(chart), { ...(await report(chart)), id: 'other' }]);
  expect(issues.map(({ path }) => path)).toEqual([
    'config.widgets[0].config.reportId',
    'config.widgets[0].config.reportId',
    'config.widgets[1].config.reportId',
    'config.widgets[1].config.reportId',
  ]);
});

test.each([
  ['FILTER' as const, 'sales.nothing', undefined],
  ['FILTER' as const, 'sales.status', 'date-range'],
  ['FILTER' as const, 'sales.ordered_at', 'number-range'],
  ['TIME_GRAIN' as const, 'sales.status', undefined],
])('a %s for a member that it cannot be for', async (type, member, kind) => {
  const config = { member, grains: ['day'], kind };
  const issues = await issuesOf([{ id: 'control', type, position, config }]);
  expect(issues).toEqual([
    { path: 'config.widgets[0].config.member', message: expect.stringContaining(`\`${member}\``) },
  ]);
});

test('for whoever may not read the model, hidden members are like those that there are not', async () => {
  const { userId, client } = await world.person({ roles: ['Viewer'] });
  const allow = (resourceType: 'Workbook' | 'Report', resourceId: number, action: string) =>
    world.admin.setUserPolicy({ body: { resourceType, resourceId, userId, action: action as 'ReportRead' } });
  await allow('Workbook', workbookId, 'WorkbookEdit');
  const margins = async (name: string, by: World['admin']) => {
    const widget = await report(null, { measures: [`margins.${name}`] });
    await allow('Report', widget.config.reportId, 'ReportRead');
    const issues = await issuesOf([widget], by);
    return issues.map(({ message }) => message.replace(`.${name}`, '…'));
  };
  const unknown = await margins('nothing', client);
  expect(unknown).toHaveLength(1);
  expect(await margins('margin', client)).toEqual(unknown);
  expect(await margins('count', client)).toEqual([]);
  expect(await margins('margin', world.admin)).toEqual([]);
});

test('without a model with cubes, members are not checked, and fields are', async () => {
  const { id: empty } = await world.deployment();
  await deployModel(world, empty, {
    'model/cubes/example_orders.yml': 'cubes: []\n',
    'model/views/example.yml': 'views: []\n',
  });
  const { id: emptyWorkbook } = await world.admin.createWorkbook({
    deploymentId: empty,
    body: { name: 'Sales' },
  });
  const publishThere = async (chart: Chart) => {
    const body = { name: 'Amounts', jsonQuery: JSON.stringify(QUERY), meta: { chart } };
    const { id: reportId } = await world.admin.createReport({ deploymentId: empty, body });
    const widgets = [{ id: 'amounts', type: 'CHART' as const, position, config: { reportId } }];
    return world.admin.publishDashboard({
      deploymentId: empty,
      workbookId: emptyWorkbook,
      body: { config: { widgets } },
    });
  };
  expect(await publishThere(vega({ x }))).toMatchObject({ versionNumber: 1 });
  await expect(publishThere(vega({ x: y('nothing') }))).rejects.toMatchObject({ status: 400 });
});
