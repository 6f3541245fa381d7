/** The JSON query format, as the document describes it. The planner checks queries, and says what is wrong in its own words. */
import { Type } from 'typebox';
import { describedAs, sameAs } from './hoist.ts';
import { Shape } from './schemas.ts';

const OPERATORS = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'startsWith',
  'notStartsWith',
  'endsWith',
  'notEndsWith',
  'gt',
  'gte',
  'lt',
  'lte',
  'set',
  'notSet',
  'inDateRange',
  'notInDateRange',
  'beforeDate',
  'beforeOrOnDate',
  'afterDate',
  'afterOrOnDate',
  'onTheDate',
  'measureFilter',
];

const member = Type.String({ examples: ['orders.status'] });
const members = (description: string) => Type.Optional(Type.Array(member, { description }));
const DateRange = Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 2 })], {
  description: 'Two dates, one date, or words such as `last 7 days`',
});
const filters = (description: string) =>
  Type.Optional(Type.Array(Type.Unsafe<object>(describedAs('QueryFilter', QueryFilter)), { description }));

const nested = Type.Optional(Type.Array(Type.Unsafe<object>(sameAs('QueryFilter'))));
const QueryFilter = Shape(
  'QueryFilter',
  {
    member: Type.Optional(member),
    operator: Type.Optional(Type.Enum(OPERATORS)),
    values: Type.Optional(
      Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])),
    ),
    and: nested,
    or: nested,
  },
  { description: 'A comparison, or `and` or `or` with a list of filters' },
);

const CalculatedField = Shape(
  'CalculatedField',
  {
    name: Type.String({ pattern: '^[A-Za-z_]\\w{0,62}$', examples: ['share'] }),
    title: Type.Optional(Type.String({ maxLength: 200 })),
    format: Type.Optional(Type.Enum(['number', 'percent', 'currency'])),
    kind: Type.Enum([
      'aggregate',
      'shareOfTotal',
      'difference',
      'percentDifference',
      'runningTotal',
      'movingAverage',
      'rank',
      'expression',
    ]),
    of: Type.Optional(Type.String({ examples: ['orders.count'] })),
    function: Type.Optional(Type.Enum(['countDistinct', 'sum', 'avg', 'min', 'max'])),
    along: Type.Optional(Type.String({ examples: ['orders.ordered_at.month'] })),
    within: Type.Optional(Type.Array(Type.String({ examples: ['orders.status'] }))),
    rows: Type.Optional(Type.Integer({ minimum: 2, maximum: 1000 })),
    direction: Type.Optional(Type.Enum(['asc', 'desc'])),
    expression: Type.Optional(Type.String({ maxLength: 2000, examples: ['orders.revenue / orders.count'] })),
  },
  { description: 'A column of this query alone, computed from members or from calculated fields before it' },
);

export const JsonQuery = Shape(
  'JsonQuery',
  {
    measures: members('What is aggregated'),
    dimensions: members('What it is grouped by'),
    timeDimensions: Type.Optional(
      Type.Array(
        Shape('QueryTimeDimension', {
          dimension: member,
          granularity: Type.Optional(Type.String({ examples: ['month'] })),
          dateRange: Type.Optional(DateRange),
          compareDateRange: Type.Optional(Type.Array(DateRange, { minItems: 2, maxItems: 10 })),
        }),
      ),
    ),
    segments: members('Named choices of rows'),
    calculated: Type.Optional(
      Type.Array(CalculatedField, {
        maxItems: 50,
        description: 'Columns that are computed for this query alone',
      }),
    ),
    filters: filters('All must hold'),
    order: Type.Optional(
      Type.Union([
        Type.Object({}, { additionalProperties: Type.Enum(['asc', 'desc']) }),
        Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 })),
      ]),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 0 })),
    rowLimit: Type.Optional(Type.Integer({ minimum: 0, description: 'Another name for `limit`' })),
    offset: Type.Optional(Type.Integer({ minimum: 0 })),
    timezone: Type.Optional(Type.String({ examples: ['Europe/Berlin'] })),
    total: Type.Optional(Type.Boolean({ description: 'Count all rows, whatever the limit' })),
    ungrouped: Type.Optional(Type.Boolean({ description: 'Rows as they are' })),
    renewQuery: Type.Optional(Type.Boolean({ description: 'Ask the data source again' })),
    responseFormat: Type.Optional(
      Type.Enum(['default', 'compact'], { description: '`compact` for rows as arrays' }),
    ),
    joinHints: Type.Optional(
      Type.Array(Type.Array(Type.String({ examples: ['orders'] }), { minItems: 2 }), {
        description: 'Cubes, each joined to the next: the path to take where there are several',
      }),
    ),
  },
  { description: 'One query' },
);
