/** Charts that can not work are not published: members that are not in the model, and fields that the query does not give. */
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
  ['FILTER' as const, 'sales.nothing'],
  ['TIME_GRAIN' as const, 'sales.status'],
])('a %s for a member that it can not be for', async (type, member) => {
  const config = { member, grains: ['day'] };
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
