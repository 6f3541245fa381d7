/** A dashboard over the shop of `shops.ts`, with every kind of widget. */
const measures = ['sales.amount', 'sales.count'];
const snapshot = (
  reportId: number,
  kind: string,
  title: string,
  query: object,
  spec: object,
  more: object = {},
) => ({
  id: reportId,
  reportId,
  versionNumber: 1,
  kind,
  title,
  name: title,
  meta: { query },
  spec,
  ...more,
});
const widget = (id: string, type: string, [x, y, w, h]: number[], config: object = {}) => ({
  id,
  type,
  position: { x, y, w, h },
  config,
});

const RANGE = ['2024-01-01', '2024-03-31'];
const month = [{ dimension: 'sales.ordered_at', granularity: 'month', dateRange: RANGE }];

export const BARS = {
  data: [{ name: 'rows' }],
  scales: [
    {
      name: 'x',
      type: 'band',
      domain: { data: 'rows', field: 'sales__status' },
      range: 'width',
      padding: 0.2,
    },
    {
      name: 'y',
      type: 'linear',
      domain: { data: 'rows', field: 'sales__amount' },
      range: 'height',
      nice: true,
    },
  ],
  axes: [
    { orient: 'bottom', scale: 'x', title: 'sales__status' },
    { orient: 'left', scale: 'y', title: 'Sum of sales__amount' },
  ],
  marks: [
    {
      type: 'rect',
      from: { data: 'rows' },
      encode: {
        update: {
          x: { scale: 'x', field: 'sales__status' },
          width: { scale: 'x', band: 1 },
          y: { scale: 'y', field: 'sales__amount' },
          y2: { scale: 'y', value: 0 },
          fill: { value: '#4c78a8' },
          tooltip: { signal: 'datum' },
        },
      },
    },
  ],
};

export const tabular = (deploymentId: number, publicId: string) => ({
  id: 1,
  publicId,
  deploymentId,
  workbookId: 1,
  versionId: 1,
  versionNumber: 1,
  status: 'published',
  allowEmbed: true,
  title: 'Shop',
  description: 'What was sold',
  config: {
    layout: { cols: { lg: 12 }, rowHeight: 60, margin: [16, 16] },
    widgets: [
      widget('text', 'TEXT', [0, 0, 12, 1], { markdown: '## Hello\n\nSome **bold** text.' }),
      widget('status', 'FILTER', [0, 1, 3, 1], { member: 'sales.status', title: 'Status' }),
      widget('period', 'FILTER', [3, 1, 3, 1], {
        member: 'sales.ordered_at',
        title: 'Period',
        kind: 'date-range',
      }),
      widget('grain', 'TIME_GRAIN', [6, 1, 3, 1], {
        member: 'sales.ordered_at',
        grains: ['day', 'month'],
        default: 'month',
      }),
      widget('total', 'CHART', [0, 2, 3, 2], { reportId: 1 }),
      widget('table', 'CHART', [3, 2, 9, 4], { reportId: 2 }),
      widget('months', 'CHART', [0, 6, 6, 4], { reportId: 3 }),
    ],
  },
  reportSnapshots: [
    snapshot(
      1,
      'kpi',
      'Revenue',
      {
        measures: ['sales.amount'],
        timeDimensions: [{ dimension: 'sales.ordered_at', dateRange: ['2024-02-01', '2024-02-29'] }],
      },
      {
        measure: 'sales.amount',
        comparison: {
          periodComparison: { timeDimension: 'sales.ordered_at', offset: { amount: 1, unit: 'month' } },
        },
        sparkline: { timeDimension: 'sales.ordered_at', granularity: 'month', dateRange: RANGE },
      },
    ),
    snapshot(
      2,
      'table',
      'Orders by name',
      { measures, dimensions: ['sales.name', 'sales.status'], order: { 'sales.name': 'asc' } },
      {
        columns: [
          { member: 'sales.name' },
          { member: 'sales.status' },
          { member: 'sales.amount', bar: true },
          { member: 'sales.count' },
        ],
        totals: true,
        sort: [{ member: 'sales.amount', desc: true }],
      },
    ),
    snapshot(
      3,
      'table',
      'By month',
      { measures, timeDimensions: month },
      // A column may name the time without its granularity, which the viewer changes.
      { columns: ['sales.ordered_at', ...measures, 'sales.amount.previous'].map((member) => ({ member })) },
      {
        periodComparisons: [
          {
            measure: 'sales.amount',
            timeDimension: 'sales.ordered_at',
            offset: { amount: 1, unit: 'month' },
            outputs: ['previous'],
          },
        ],
      },
    ),
  ],
});

export const graphical = (deploymentId: number, publicId: string) => ({
  ...tabular(deploymentId, publicId),
  title: 'Shop in pictures',
  config: {
    widgets: [
      widget('bars', 'CHART', [0, 0, 6, 5], { reportId: 1 }),
      widget('map', 'CHART', [6, 0, 6, 5], { reportId: 2 }),
      widget('html', 'CHART', [0, 5, 6, 3], { reportId: 3 }),
      widget('thread', 'AI', [6, 5, 6, 3], {
        thread: [
          { role: 'user', text: 'How are we?' },
          { role: 'assistant', text: '**Fine.**' },
        ],
      }),
      widget('tabs', 'CONTAINER', [0, 8, 12, 4], {
        tabs: [
          { title: 'One', widgets: ['note'] },
          { title: 'Two', widgets: ['later'] },
        ],
      }),
      widget('note', 'TEXT', [0, 0, 12, 1], { markdown: 'The first tab' }),
      widget('later', 'CHART', [0, 0, 12, 3], { reportId: 4 }),
    ],
  },
  reportSnapshots: [
    snapshot(1, 'vega', 'By status', { measures: ['sales.amount'], dimensions: ['sales.status'] }, BARS),
    snapshot(
      2,
      'map',
      'By region',
      { measures: ['sales.amount'], dimensions: ['sales.region'] },
      { member: 'sales.region', measure: 'sales.amount', geometry: 'world' },
    ),
    snapshot(
      3,
      'html',
      'In words',
      { measures: ['sales.amount'] },
      { template: '<p>We sold <b>{{ sales.amount }}</b>.</p>' },
    ),
    snapshot(4, 'table', 'Later', { measures, dimensions: ['sales.name'] }, {}),
  ],
});

/** For a shop whose customers have ids of many digits. */
export const large = (deploymentId: number, publicId: string) => ({
  ...tabular(deploymentId, publicId),
  title: 'Tenants',
  config: {
    widgets: [
      widget('tenant', 'FILTER', [0, 0, 3, 1], { member: 'sales.tenant_id', title: 'Tenant' }),
      widget('names', 'CHART', [0, 1, 6, 4], { reportId: 1 }),
    ],
  },
  reportSnapshots: [
    snapshot(
      1,
      'table',
      'Names',
      { dimensions: ['sales.name', 'sales.tenant_id'], order: { 'sales.name': 'asc' } },
      {},
    ),
  ],
});
