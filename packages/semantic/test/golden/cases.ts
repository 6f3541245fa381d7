/** Queries for the shop in this folder. Each becomes a file with its SQL and its rows; see golden.test.ts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Viewer } from '../../src/index.ts';
import type { Cell } from '../engines.ts';

export const NOW = new Date('2024-04-02T10:15:00Z');

const nobody: Viewer = {
  groups: [],
  tenantGroups: [],
  roles: [],
  userAttributes: {},
  securityContext: {},
  seesUnguarded: true,
};
/** The viewer of each case that names no other. */
export const admin: Viewer = { ...nobody, groups: ['support'], roles: ['Admin'] };
const seller = (userAttributes: Viewer['userAttributes']): Viewer => ({
  ...nobody,
  groups: ['sales'],
  userAttributes,
});

const CREATED = 'orders.created_at';

export const CASES: Record<string, [query: object, viewer?: Viewer]> = {
  'measures by dimensions': [
    {
      measures: ['orders.count', 'orders.revenue', 'orders.buyers'],
      dimensions: ['orders.status', 'orders.size'],
    },
  ],
  'measures computed from others, without a division by zero': [
    { measures: ['orders.paid_share', 'orders.spread', 'orders.last'], dimensions: ['orders.status'] },
  ],
  'a measure of another cube in a number': [
    { measures: ['orders.per_ticket'], dimensions: ['customers.region'] },
  ],
  'a join that multiplies rows': [
    { measures: ['orders.count', 'orders.revenue'], dimensions: ['items.product'] },
  ],
  'two facts side by side': [
    { measures: ['orders.revenue', 'tickets.count', 'customers.count'], dimensions: ['customers.region'] },
  ],
  'a fact without the dimension of another': [{ measures: ['orders.count', 'tickets.count'] }],
  'policies of a cube that is only passed through': [
    { measures: ['orders.count'], dimensions: ['countries.name'] },
    seller({ regions: ['eu', 'us'] }),
  ],
  'a missing attribute': [
    { measures: ['customers.count'], dimensions: ['customers.name'] },
    seller({ region: 'eu' }),
  ],
  'no policy for the viewer': [{ dimensions: ['customers.name'] }, nobody],
  'policies that are joined by or': [
    { measures: ['tickets.count'] },
    { ...nobody, userAttributes: { hidden_kinds: 'bug' } },
  ],
  'a view with its own policies': [
    {
      measures: ['sales.revenue', 'sales.customers'],
      dimensions: ['sales.countries_name'],
      segments: ['sales.open'],
    },
  ],
  'calculated fields': [
    {
      measures: ['orders.revenue'],
      dimensions: ['orders.status'],
      timeDimensions: [{ dimension: CREATED, granularity: 'month' }],
      calculated: [
        { name: 'buyers', kind: 'aggregate', of: 'customers.name', function: 'countDistinct' },
        { name: 'share', kind: 'shareOfTotal', of: 'orders.revenue', within: [`${CREATED}.month`] },
        { name: 'change', kind: 'percentDifference', of: 'orders.revenue' },
        { name: 'so_far', kind: 'runningTotal', of: 'orders.count' },
        { name: 'place', kind: 'rank', of: 'share' },
        {
          name: 'per_buyer',
          kind: 'expression',
          expression: "round(if(orders.status = 'paid', orders.revenue, 0) / buyers, 2)",
        },
      ],
      order: [['place', 'asc']],
      total: true,
    },
  ],
  'days in a time zone': [
    {
      measures: ['orders.count'],
      timeDimensions: [{ dimension: CREATED, granularity: 'day', dateRange: ['2024-03-31', '2024-10-27'] }],
      timezone: 'Europe/Berlin',
    },
  ],
  'the hour that clocks show twice': [
    {
      measures: ['orders.count'],
      timeDimensions: [{ dimension: CREATED, granularity: 'hour', dateRange: '2024-10-27' }],
      timezone: 'Europe/Berlin',
    },
  ],
  'granularities of the model': [
    {
      measures: ['orders.count'],
      dimensions: [`${CREATED}.fiscal_year`, `${CREATED}.sprint`, `${CREATED}.half_month`],
    },
  ],
  'a relative date range': [
    { measures: ['orders.count'], timeDimensions: [{ dimension: CREATED, dateRange: 'last 3 days' }] },
  ],
  'ranges that are compared': [
    {
      measures: ['orders.revenue'],
      timeDimensions: [
        { dimension: CREATED, granularity: 'month', compareDateRange: ['this month', 'last month'] },
      ],
    },
  ],
  'a rolling window': [
    {
      measures: ['orders.last_three_days', 'orders.running', 'orders.revenue'],
      timeDimensions: [{ dimension: CREATED, granularity: 'day', dateRange: ['2024-03-30', '2024-04-02'] }],
      timezone: 'Europe/Berlin',
    },
  ],
  'a rolling window by a dimension that multiplies rows': [
    {
      measures: ['orders.last_three_days'],
      dimensions: ['items.product'],
      timeDimensions: [{ dimension: CREATED, granularity: 'week', dateRange: ['2024-03-25', '2024-04-07'] }],
    },
  ],
  'a sub-query': [{ measures: ['customers.count'], dimensions: ['customers.orders_count'] }],
  'filters on text': [
    {
      dimensions: ['orders.id'],
      filters: [
        {
          or: [
            { member: 'orders.status', operator: 'contains', values: ['50%', 'E_'] },
            { member: 'orders.status', operator: 'equals', values: ['done', null] },
          ],
        },
        { member: 'orders.status', operator: 'notStartsWith', values: ['x'] },
        { member: 'orders.status', operator: 'notEquals', values: ["' or true --"] },
      ],
    },
  ],
  'filters on numbers and truth': [
    {
      dimensions: ['orders.id'],
      filters: [
        { member: 'orders.amount', operator: 'gte', values: ['7.25'] },
        { member: 'orders.amount', operator: 'lt', values: ['1e300'] },
        {
          or: [
            { member: 'orders.is_paid', operator: 'equals', values: ['true'] },
            { member: 'orders.is_paid', operator: 'notSet' },
          ],
        },
      ],
    },
  ],
  'ids that a double cannot tell apart': [
    {
      dimensions: ['customers.id', 'customers.name'],
      filters: [{ member: 'customers.id', operator: 'equals', values: ['9007199254740993'] }],
    },
  ],
  'filters on time': [
    {
      dimensions: ['orders.id', CREATED],
      filters: [
        { member: CREATED, operator: 'afterOrOnDate', values: ['2024-03-30'] },
        { member: CREATED, operator: 'beforeDate', values: ['2024-10-27T03:00:00'] },
        {
          member: CREATED,
          operator: 'notInDateRange',
          values: ['2024-03-30T23:00:00Z', '2024-03-30T23:00:00Z'],
        },
      ],
      timezone: 'Europe/Berlin',
    },
  ],
  'filters on measures beside filters on dimensions': [
    {
      measures: ['orders.count'],
      dimensions: ['orders.status'],
      filters: [
        {
          and: [
            { member: 'orders.amount', operator: 'set' },
            { member: 'orders.revenue', operator: 'gt', values: ['50'] },
          ],
        },
        {
          or: [
            { member: 'orders.count', operator: 'equals', values: ['1'] },
            { member: 'orders.last', operator: 'afterDate', values: ['2024-03-31'] },
          ],
        },
      ],
    },
  ],
  'order, limit, offset and total': [
    {
      dimensions: ['orders.id'],
      measures: ['orders.revenue'],
      order: { 'orders.revenue': 'asc' },
      limit: 2,
      offset: 1,
      total: true,
    },
  ],
  'rows that are not grouped': [
    {
      dimensions: ['orders.id', 'items.product'],
      measures: ['items.quantity', 'orders.count', 'orders.paid_share'],
      ungrouped: true,
      order: [['orders.id', 'desc']],
    },
  ],
};

export const fileOf = (name: string) => `${name.replace(/\W+/g, '-')}.sql`;

/** The rows in the file of a case, for each of its statements. */
export async function goldenRows(name: string): Promise<Cell[][][]> {
  const text = await readFile(join(import.meta.dirname, fileOf(name)), 'utf8');
  const [, ...answers] = text.split(/^-- rows$/m);
  return answers.map((lines) => [...lines.matchAll(/^-- (.+)$/gm)].map(([, row]) => JSON.parse(row!)));
}
