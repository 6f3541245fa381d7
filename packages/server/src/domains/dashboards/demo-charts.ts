/** The reports of the two demo dashboards, and where each of them stands. */

export interface DemoChart {
  /** The id of the widget. */
  id: string;
  title: string;
  kind: 'vega' | 'table' | 'kpi' | 'map';
  query: object;
  spec: object;
  /** Column, row, width and height in a grid of twelve columns. */
  at: [x: number, y: number, w: number, h: number];
  periodComparisons?: object[];
  fillMissingRows?: object;
  preferences?: object;
  /** The filter by time does not reach it. */
  isOfAllTime?: boolean;
}

/** Which days are shown is up to the filter of the dashboard, which says so. */
const by = (dimension: string, granularity: string) => [{ dimension, granularity }];

const kpi = (
  measure: string,
  title: string,
  x: number,
  { time, goodWhen = 'up', format }: { time: string; goodWhen?: 'up' | 'down'; format?: object },
): DemoChart => ({
  id: measure.replace('.', '-'),
  title,
  kind: 'kpi',
  query: { measures: [measure] },
  spec: {
    measure,
    comparison: { periodComparison: { measure, timeDimension: time, offset: { amount: 1, unit: 'year' } } },
    sparkline: { timeDimension: time, granularity: 'month' },
    goodWhen,
    ...(format ? { format } : {}),
  },
  at: [x, 2, 3, 4],
});

const field = (member: string) => member.replaceAll('.', '__');
const quiet = { title: null };
/** Hours and days, the same in figures, charts and tables. */
const ONE_PLACE = { type: 'number', decimalPlaces: 1 };
const amount = (member: string, format = '~s') => ({
  field: field(member),
  type: 'quantitative',
  axis: { ...quiet, format },
});
const time = (member: string, grain: string) => ({
  field: `${field(member)}__${grain}`,
  type: 'temporal',
  scale: { type: 'utc' },
  axis: quiet,
});
const shown = (member: string, title: string, format = ',.0f') => ({
  field: field(member),
  type: 'quantitative',
  title,
  format,
});

const ORDERED = 'sales.ordered_at';

export const COMMERCE: DemoChart[] = [
  kpi('sales.revenue', 'Revenue', 0, { time: ORDERED }),
  kpi('sales.orders', 'Orders', 3, { time: ORDERED }),
  kpi('sales.average_order_value', 'Revenue per order', 6, { time: ORDERED }),
  kpi('sales.buyers', 'Active customers', 9, { time: ORDERED }),
  {
    id: 'revenue-over-time',
    title: 'Revenue over time',
    kind: 'vega',
    query: { measures: ['sales.revenue'], timeDimensions: by(ORDERED, 'month') },
    spec: {
      mark: { type: 'area', line: true, point: true, opacity: 0.25, tooltip: true },
      encoding: { x: time(ORDERED, 'month'), y: amount('sales.revenue', '$~s') },
    },
    fillMissingRows: { member: ORDERED },
    at: [0, 6, 8, 8],
  },
  {
    id: 'revenue-by-category',
    title: 'Revenue by category',
    kind: 'vega',
    query: {
      measures: ['sales.revenue'],
      dimensions: ['sales.product_category'],
      order: { 'sales.revenue': 'desc' },
    },
    spec: {
      mark: { type: 'bar', cornerRadiusEnd: 3, tooltip: true },
      encoding: {
        y: { field: 'sales__product_category', type: 'nominal', sort: '-x', axis: quiet },
        x: amount('sales.revenue', '$~s'),
      },
    },
    at: [8, 6, 4, 8],
  },
  {
    id: 'revenue-by-country',
    title: 'Revenue by country',
    kind: 'map',
    query: {
      measures: ['sales.revenue', 'sales.orders'],
      dimensions: ['sales.customer_country_code'],
    },
    spec: { member: 'sales.customer_country_code', measure: 'sales.revenue', geometry: 'world' },
    at: [0, 14, 7, 9],
  },
  {
    id: 'top-products',
    title: 'Top products',
    kind: 'table',
    query: {
      measures: ['sales.revenue', 'sales.units'],
      dimensions: ['sales.product_name', 'sales.product_category'],
      order: { 'sales.revenue': 'desc' },
      limit: 25,
    },
    spec: {
      columns: [
        { member: 'sales.product_name', title: 'Product' },
        { member: 'sales.product_category', title: 'Category' },
        { member: 'sales.units', title: 'Units', align: 'right' },
        { member: 'sales.revenue', title: 'Revenue', align: 'right', bar: true },
      ],
      sort: [{ member: 'sales.revenue', desc: true }],
      totals: true,
    },
    at: [7, 14, 5, 9],
  },
  {
    id: 'cohorts',
    title: 'Customers who come back, by the quarter of their first order (all time)',
    isOfAllTime: true,
    kind: 'vega',
    query: {
      measures: ['sales.buyers'],
      dimensions: ['sales.quarters_since_first'],
      timeDimensions: [{ dimension: 'sales.first_ordered_at', granularity: 'quarter' }],
      limit: 500,
    },
    spec: {
      mark: { type: 'rect', tooltip: true },
      encoding: {
        x: {
          field: 'sales__quarters_since_first',
          type: 'ordinal',
          axis: { title: 'Quarters later', labelAngle: 0 },
        },
        y: {
          field: 'sales__first_ordered_at__quarter',
          type: 'ordinal',
          timeUnit: 'utcyearquarter',
          axis: quiet,
        },
        color: {
          field: 'sales__buyers',
          type: 'quantitative',
          legend: { title: 'Customers' },
        },
      },
    },
    at: [0, 23, 12, 9],
  },
];

const PLACED = 'operations.ordered_at';

export const OPERATIONS: DemoChart[] = [
  kpi('operations.orders', 'Orders', 0, { time: PLACED }),
  kpi('operations.hours_to_ship', 'Hours to ship', 3, { time: PLACED, goodWhen: 'down', format: ONE_PLACE }),
  kpi('operations.late_rate', 'Late deliveries', 6, { time: PLACED, goodWhen: 'down' }),
  kpi('operations.return_rate', 'Returned', 9, { time: PLACED, goodWhen: 'down' }),
  {
    id: 'orders-by-status',
    title: 'Orders by status',
    kind: 'vega',
    query: {
      measures: ['operations.orders'],
      dimensions: ['operations.status'],
      timeDimensions: by(PLACED, 'month'),
    },
    spec: {
      mark: { type: 'bar', tooltip: true },
      encoding: {
        x: { ...time(PLACED, 'month'), bandPosition: 0.5, timeUnit: 'utcyearmonth' },
        y: amount('operations.orders', ',.0f'),
        color: { field: 'operations__status', type: 'nominal', legend: { title: null, orient: 'top' } },
      },
    },
    at: [0, 6, 7, 8],
  },
  {
    id: 'time-to-deliver',
    title: 'Days to deliver, by warehouse',
    kind: 'vega',
    query: {
      measures: ['operations.days_to_deliver'],
      dimensions: ['operations.warehouse'],
      timeDimensions: by(PLACED, 'month'),
    },
    spec: {
      mark: { type: 'line', point: true, tooltip: true },
      encoding: {
        x: time(PLACED, 'month'),
        y: { ...amount('operations.days_to_deliver', '.1f'), scale: { zero: false } },
        color: { field: 'operations__warehouse', type: 'nominal', legend: { title: null, orient: 'top' } },
      },
    },
    preferences: { columnFormats: { 'operations.days_to_deliver': ONE_PLACE } },
    at: [7, 6, 5, 8],
  },
  {
    id: 'late-shipments',
    title: 'Late deliveries over time',
    kind: 'vega',
    query: {
      measures: ['operations.late_count', 'operations.late_rate'],
      timeDimensions: by(PLACED, 'month'),
    },
    spec: {
      mark: { type: 'bar', tooltip: true, cornerRadiusEnd: 2 },
      encoding: {
        x: { ...time(PLACED, 'month'), timeUnit: 'utcyearmonth' },
        y: amount('operations.late_count', ',.0f'),
        tooltip: [
          shown('operations.late_count', 'Late deliveries'),
          shown('operations.late_rate', 'Of all deliveries', '.1%'),
        ],
      },
    },
    fillMissingRows: { member: PLACED },
    at: [0, 14, 6, 8],
  },
  {
    id: 'returns-by-country',
    title: 'Returned orders by country',
    kind: 'vega',
    query: {
      measures: ['operations.returned_count', 'operations.return_rate'],
      dimensions: ['operations.customer_country'],
      order: { 'operations.returned_count': 'desc' },
    },
    spec: {
      mark: { type: 'bar', tooltip: true, cornerRadiusEnd: 3 },
      encoding: {
        y: { field: 'operations__customer_country', type: 'nominal', sort: '-x', axis: quiet },
        x: amount('operations.returned_count', ',.0f'),
      },
    },
    at: [6, 14, 6, 8],
  },
  {
    id: 'warehouses',
    title: 'Warehouses',
    kind: 'table',
    query: {
      measures: [
        'operations.orders',
        'operations.hours_to_ship',
        'operations.days_to_deliver',
        'operations.late_rate',
        'operations.return_rate',
        'operations.shipping',
      ],
      dimensions: ['operations.warehouse', 'operations.customer_region'],
      order: { 'operations.orders': 'desc' },
    },
    spec: {
      columns: [
        { member: 'operations.warehouse', title: 'Warehouse' },
        { member: 'operations.customer_region', title: 'Region' },
        { member: 'operations.orders', title: 'Orders', align: 'right', bar: true },
        { member: 'operations.hours_to_ship', title: 'Hours to ship', align: 'right', format: ONE_PLACE },
        { member: 'operations.days_to_deliver', title: 'Days to deliver', align: 'right', format: ONE_PLACE },
        { member: 'operations.late_rate', title: 'Late', align: 'right', bar: true },
        { member: 'operations.return_rate', title: 'Returned', align: 'right' },
        { member: 'operations.shipping', title: 'Shipping costs', align: 'right' },
      ],
      sort: [{ member: 'operations.orders', desc: true }],
    },
    at: [0, 22, 12, 7],
  },
];
