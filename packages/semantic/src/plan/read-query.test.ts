import { expect, test } from 'vitest';
import { customers, JOIN, orders } from '../../test/marked.ts';
import { errorOf, modelOf, planOf } from '../../test/plans.ts';
import { readQuery } from './read-query.ts';

const model = modelOf(
  orders(JOIN).replace(
    '    measures:',
    '      - { name: closed_at, sql: closed_at, type: time }\n    measures:',
  ) + customers(),
);
const MEASURES = { measures: ['orders.count'] };
const filters = (...items: unknown[]) => ({ ...MEASURES, filters: items });
const equals = { member: 'orders.status', operator: 'equals', values: ['a'] };
const filter = (more: object) => filters({ ...equals, ...more });
const created = (more: object) => ({
  ...MEASURES,
  timeDimensions: [{ dimension: 'orders.created_at', ...more }],
});
const nested = (depth: number): object =>
  depth ? { and: [nested(depth - 1)] } : { member: 'orders.status', operator: 'set' };

test.each<[string, unknown, string, RegExp]>([
  ['no object', [], '', /object/],
  ['nothing to show', { filters: [] }, '', /needs a measure/],
  [
    'only a date range',
    { timeDimensions: [{ dimension: 'orders.created_at', dateRange: 'today' }] },
    '',
    /needs a measure/,
  ],
  ['an unknown key', { ...MEASURES, limits: 1 }, 'limits', /Did you mean `limit`/],
  ['a measure that is no name', { measures: ['count'] }, 'measures[0]', /name of a member/],
  ['a list as a member', { measures: [['orders.count']] }, 'measures[0]', /name of a member/],
  ['SQL as a member', { measures: ['orders.count; drop table orders'] }, 'measures[0]', /name of a member/],
  ['a number as a member', { dimensions: [1] }, 'dimensions[0]', /text/],
  ['measures that are no list', { measures: 'orders.count' }, 'measures', /list/],
  ['a limit below zero', { ...MEASURES, limit: -1 }, 'limit', /0 or more/],
  ['a limit with decimals', { ...MEASURES, limit: 1.5 }, 'limit', /whole/],
  ['a limit under both names', { ...MEASURES, limit: 1, rowLimit: 1 }, 'rowLimit', /not both/],
  ['a limit as a text', { ...MEASURES, limit: '5' }, 'limit', /whole/],
  ['a total that is no truth', { ...MEASURES, total: 'yes' }, 'total', /true/],
  ['a renewal that is no truth value', { ...MEASURES, renewQuery: 'yes' }, 'renewQuery', /true/],
  ['a key of the request', { ...MEASURES, cache: 'no-cache' }, 'cache', /no such key/],
  [
    'a time zone that does not exist',
    { ...MEASURES, timezone: 'Europe/Atlantis' },
    'timezone',
    /such as `Europe\/Berlin`/,
  ],
  ['an offset as a time zone', { ...MEASURES, timezone: '+01:00' }, 'timezone', /time zone/],
  ['an unknown operator', filter({ operator: 'equal' }), 'filters[0].operator', /Did you mean `equals`/],
  ['an operator of every object', filter({ operator: 'constructor' }), 'filters[0].operator', /operator/],
  ['no values', filter({ values: [] }), 'filters[0].values', /one or more/],
  ['two values for gt', filter({ operator: 'gt', values: ['a', 'b'] }), 'filters[0].values', /one value/],
  ['an object as a value', filter({ values: [{}] }), 'filters[0].values[0]', /text/],
  ['an integer that is not exact', filter({ values: [2 ** 53] }), 'filters[0].values[0]', /as a text/],
  ['a zero byte', filter({ values: ['a\0b'] }), 'filters[0].values[0]', /zero byte/],
  ['a very long value', filter({ values: ['a'.repeat(10_001)] }), 'filters[0].values[0]', /characters/],
  ['an empty group', filters({ or: [] }), 'filters[0].or', /empty/],
  ['and beside or', filters({ and: [], or: [] }), 'filters[0].or', /with `and` has nothing beside it/],
  ['a member beside or', filter({ or: [nested(0)] }), 'filters[0].member', /with `or` has nothing beside it/],
  [
    'two values for a day',
    filter({ operator: 'onTheDate', values: ['a', 'b'] }),
    'filters[0].values',
    /Date` takes one/,
  ],
  ['rows by column', { ...MEASURES, responseFormat: 'columnar' }, 'responseFormat', /`compact`/],
  ['a hint that is no list', { ...MEASURES, joinHints: ['orders'] }, 'joinHints[0]', /list/],
  ['a hint of one cube', { ...MEASURES, joinHints: [['orders']] }, 'joinHints[0]', /two or more/],
  [
    'a member as a hint',
    { ...MEASURES, joinHints: [['orders.id', 'orders']] },
    'joinHints[0][0]',
    /name of a cube/,
  ],
  [
    'a list as a cube of a hint',
    { ...MEASURES, joinHints: [[['orders'], 'customers']] },
    'joinHints[0][0]',
    /name of a cube/,
  ],
  [
    'an unknown cube as a hint',
    { ...MEASURES, joinHints: [['orders', 'x']] },
    'joinHints[0][1]',
    /no cube `x`/,
  ],
  [
    'too many hints',
    { ...MEASURES, joinHints: Array.from({ length: 51 }, () => ['orders', 'customers']) },
    'joinHints',
    /100/,
  ],
  ['groups nested too deep', filters(nested(11)), `filters[0]${'.and[0]'.repeat(10)}`, /10 deep/],
  [
    'too many filters',
    filters(...Array.from({ length: 10_000 }, () => ({ member: 'orders.status', operator: 'set' }))),
    'filters',
    /500/,
  ],
  [
    'too many values',
    filter({ values: Array.from({ length: 10_001 }, () => 'a') }),
    'filters[0].values',
    /10000/,
  ],
  [
    'too many values of several filters',
    filters(...[1, 2].map(() => ({ ...equals, values: Array(5001).fill('a') }))),
    'filters',
    /10000 values/,
  ],
  ['a filter that is no object', filters(7), 'filters[0]', /must be a filter/],
  ['a filter that is null', filters(null), 'filters[0]', /must be a filter/],
  ['an unknown key of a filter', filter({ value: 'a' }), 'filters[0].value', /no such key/],
  ['an unknown key beside or', filters({ or: [nested(0)], value: 'a' }), 'filters[0].value', /no such key/],
  ['a list as an operator', filter({ operator: ['equals'] }), 'filters[0].operator', /no such operator/],
  [
    'a number without end',
    filter({ values: [Number.POSITIVE_INFINITY] }),
    'filters[0].values[0]',
    /a text, a number/,
  ],
  ['a time dimension that is no object', { timeDimensions: [7] }, 'timeDimensions[0]', /must be an object/],
  [
    'an unknown key of a time dimension',
    created({ range: 'today' }),
    'timeDimensions[0].range',
    /no such key/,
  ],
  ['a granularity that is no text', created({ granularity: 7 }), 'timeDimensions[0].granularity', /text/],
  [
    'a date range beside compared ones',
    created({ dateRange: 'today', compareDateRange: ['today', 'yesterday'] }),
    'timeDimensions[0]',
    /not both/,
  ],
  [
    'three dates as a range',
    created({ dateRange: ['2024-01-01', '2024-01-02', '2024-01-03'] }),
    'timeDimensions[0].dateRange',
    /^This must be two dates/,
  ],
  [
    'an order of three parts',
    { ...MEASURES, order: [['a', 'asc', 'b']] },
    'order[0]',
    /member and a direction/,
  ],
  ['an order of a text', { ...MEASURES, order: ['ab'] }, 'order[0]', /member and a direction/],
  ['an order of a number', { ...MEASURES, order: [7] }, 'order[0]', /member and a direction/],
  [
    'an order of another object',
    { ...MEASURES, order: [{ member: 'a' }] },
    'order[0]',
    /member and a direction/,
  ],
  ['too many members', { dimensions: Array.from({ length: 201 }, () => 'orders.status') }, '', /200/],
  [
    'an unknown granularity',
    created({ granularity: 'days' }),
    'timeDimensions[0].granularity',
    /Did you mean `day`/,
  ],
  [
    'a date that does not exist',
    created({ dateRange: ['2024-02-30', '2024-03-01'] }),
    'timeDimensions[0].dateRange',
    /date range/,
  ],
  [
    'words that are no range',
    created({ dateRange: 'last few days' }),
    'timeDimensions[0].dateRange',
    /last 7 days/,
  ],
  [
    'one range to compare',
    created({ compareDateRange: ['today'] }),
    'timeDimensions[0].compareDateRange',
    /2 to 10/,
  ],
  [
    'ranges of two time dimensions to compare',
    {
      ...MEASURES,
      timeDimensions: ['created_at', 'closed_at'].map((name) => ({
        dimension: `orders.${name}`,
        compareDateRange: ['today', 'yesterday'],
      })),
    },
    'timeDimensions[1].dimension',
    /Only one time dimension/,
  ],
  [
    'a text as a time',
    { ...MEASURES, timeDimensions: [{ dimension: 'orders.status' }] },
    'timeDimensions[0].dimension',
    /not a time/,
  ],
  ['a dimension as a measure', { measures: ['orders.status'] }, 'measures[0]', /is a dimension/],
  ['a segment as a filter', filter({ member: 'orders.open' }), 'filters[0].member', /segments/],
  ['a text for a number', filter({ member: 'orders.count', values: ['many'] }), 'filters[0]', /does not fit/],
  [
    'contains for a truth',
    filter({ member: 'orders.paid', operator: 'contains' }),
    'filters[0]',
    /type `boolean`/,
  ],
  [
    'a date for a text',
    filter({ operator: 'inDateRange', values: ['2024-01-01'] }),
    'filters[0]',
    /does not fit/,
  ],
  ['null for contains', filter({ operator: 'contains', values: [null] }), 'filters[0]', /does not fit/],
  [
    'a dimension and a measure in one or',
    filters({
      or: [
        { member: 'orders.status', operator: 'set' },
        { member: 'orders.count', operator: 'set' },
      ],
    }),
    'filters[0]',
    /same `or`/,
  ],
  [
    'an order by what is not asked for',
    { ...MEASURES, order: { 'orders.total': 'asc' } },
    'order.orders.total',
    /asks for/,
  ],
  ['a direction that is none', { ...MEASURES, order: [['orders.count', 'up']] }, 'order[0]', /asc/],
  [
    'a filter on a measure without groups',
    { ...filters({ member: 'orders.count', operator: 'set' }), ungrouped: true },
    'filters',
    /ungrouped/,
  ],
])('a query is refused for %s', (_, query, path, message) => {
  const error = errorOf(model, query);
  expect(error.code).toBe('invalid_query');
  expect(error.issues[0]).toMatchObject({ path, message: expect.stringMatching(message) });
});

test('several mistakes are told at once', () => {
  expect(errorOf(model, { measures: ['x'], limit: 'a', foo: 1 }).issues.map(({ path }) => path)).toEqual([
    'foo',
    'measures[0]',
    'limit',
  ]);
});

test.each([
  [{}, false, false],
  [{ renewQuery: true, responseFormat: 'compact' }, true, true],
  [{ renewQuery: false, responseFormat: 'default' }, false, false],
])('what a query says about its answer is read: %o', (more, isRenewed, isCompact) => {
  expect(readQuery({ ...MEASURES, ...more })).toMatchObject({ isRenewed, isCompact });
});

test('a key that is null is as one that is left out', () => {
  const nulls = {
    order: null,
    limit: null,
    timezone: null,
    filters: null,
    total: null,
    timeDimensions: null,
  };
  expect(planOf(model, { ...MEASURES, ...nulls })).toEqual(planOf(model, MEASURES));
});

test('the query as it was understood can be sent again, and names each column once', () => {
  const query = {
    ...MEASURES,
    dimensions: ['orders.created_at.day', 'orders.status', 'orders.status'],
    timeDimensions: [{ dimension: 'orders.created_at', granularity: 'day', dateRange: 'last 7 days' }],
    filters: [
      {
        or: [
          { and: [equals, { member: 'orders.paid', operator: 'set' }] },
          { member: 'orders.status', operator: 'notSet' },
        ],
      },
      { member: 'orders.count', operator: 'gt', values: [1] },
    ],
    order: [['orders.created_at', 'desc']],
  };
  const { query: normal, columns, statement } = planOf(model, query);
  expect(columns.map(({ column }) => column)).toEqual([
    'orders.status',
    'orders.created_at.day',
    'orders.count',
  ]);
  expect(planOf(model, normal)).toMatchObject({ query: normal, statement });
  expect(normal.filters).toMatchObject(query.filters);
});

test('rows that are not grouped come in no order of their own, and groups always in one', () => {
  const query = { dimensions: ['orders.status'], order: [] };
  expect(planOf(model, query).statement.sql).toContain('order by');
  expect(planOf(model, { ...query, ungrouped: true }).statement.sql).not.toContain('order by');
  expect(planOf(model, { ...query, order: undefined, ungrouped: true }).statement.sql).not.toContain(
    'order by',
  );
});

test('the filter of a measure without filters leaves nothing out', () => {
  const counted = filters({ member: 'orders.count', operator: 'measureFilter' });
  expect(planOf(model, counted).statement).toEqual(planOf(model, MEASURES).statement);
});

test('an order by a time is one by its smallest granularity', () => {
  const query = { dimensions: ['orders.created_at.month', 'orders.created_at.day'] };
  const by = (member: string) => planOf(model, { ...query, order: [[member, 'desc']] }).statement;
  expect(by('orders.created_at')).toEqual(by('orders.created_at.day'));
});

test('clients name limits and orders in several ways', () => {
  const sqlOf = (more: object) => planOf(model, { ...MEASURES, ...more }).statement.sql;
  const order = [{ id: 'orders.count', desc: true }];
  expect(sqlOf({ rowLimit: 5, order })).toBe(sqlOf({ limit: 5, order: { 'orders.count': 'desc' } }));
  expect(sqlOf({ order })).not.toBe(sqlOf({ order: [{ id: 'orders.count', desc: false }] }));
});

test('an answer has no more rows than the caller of the planner allows', () => {
  expect(planOf(model, { ...MEASURES, limit: 10_000_000 }).statement.sql).toMatch(/limit 50000$/);
  expect(planOf(model, { ...MEASURES, limit: 0 }).statement.sql).toMatch(/limit 0$/);
});

const twoWays = modelOf(`cubes:
${['a', 'b', 'c', 'd']
  .map(
    (name, i) => `  - name: ${name}
    sql_table: ${name}
    joins: [${[['b', 'c'], ['d'], ['d'], []][i]!.map((to) => `{ name: ${to}, relationship: many_to_one, sql: "{CUBE}.x = {${to}}.y" }`).join(', ')}]
    dimensions: [{ name: id, sql: id, type: number, primary_key: true, public: true }]
    measures: [{ name: count, type: count }, { name: twice, type: number, sql: "{count} * 2" }]
`,
  )
  .join('')}  - name: alone
    sql_table: alone
    dimensions: [{ name: id, sql: id, type: number, primary_key: true, public: true }]
    measures: [{ name: count, type: count }]
views:
  - { name: v, cubes: [{ join_path: a, includes: [count] }, { join_path: a.c.d, prefix: true, includes: [id, twice] }] }
`);

test('two join paths of the same length are refused, and a view can choose one', () => {
  expect(errorOf(twoWays, { measures: ['a.count'], dimensions: ['d.id'] }).code).toBe('ambiguous_join');
  expect(planOf(twoWays, { measures: ['v.count'], dimensions: ['v.d_id'] }).statement.sql).toContain(
    'join c as "c"',
  );
  expect(planOf(twoWays, { measures: ['v.d_twice'] }).statement.sql).toContain('join c as "c"');
  // A cube between the ambiguous ones decides nothing, but here it is the only one from which all is clear.
  expect(planOf(twoWays, { dimensions: ['b.id', 'c.id', 'a.id'] }).statement.sql).toContain('from a as "a"');
});

test('a hint can choose one of two join paths, for the members of the query only', () => {
  const query = { measures: ['a.count'], dimensions: ['d.id'] };
  const hinted = (...joinHints: string[][]) => planOf(twoWays, { ...query, joinHints });
  for (const hints of [
    [['a', 'c', 'd']],
    [
      ['d', 'c'],
      ['a', 'c'],
    ],
  ]) {
    const { statement, query: normal } = hinted(...hints);
    expect(statement.sql).toContain('join c as "c"');
    expect(statement.sql).not.toContain('join b as "b"');
    expect(normal.joinHints).toEqual(hints);
  }
  const refused = (joinHints: string[][], more = {}) => errorOf(twoWays, { ...query, ...more, joinHints });
  // Hints that do not lead there leave the choice open, and so do two of them.
  expect(refused([['a', 'b']]).code).toBe('ambiguous_join');
  expect(
    refused([
      ['a', 'b', 'd'],
      ['a', 'c', 'd'],
    ]).code,
  ).toBe('ambiguous_join');
  expect(refused([['a', 'd']])).toMatchObject({
    code: 'no_join_path',
    issues: [{ path: 'joinHints[0][1]' }],
  });
  expect(refused([['a', 'b']], { measures: ['v.count'], dimensions: ['v.d_id'] }).message).toContain(
    'own join paths',
  );
});

test('cubes that no join connects are refused', () => {
  for (const query of [
    { measures: ['a.count', 'alone.count'] },
    { measures: ['alone.count'], dimensions: ['a.id'] },
    { dimensions: ['alone.id', 'a.id'] },
    { dimensions: ['alone.id', 'a.id'], ungrouped: true },
    { measures: ['a.count', 'alone.count'], dimensions: ['a.id'] },
    { measures: ['a.count'], filters: [{ member: 'alone.id', operator: 'set' }] },
  ])
    expect(errorOf(twoWays, query).code).toBe('no_join_path');
});

test('a view and a cube in one query are refused', () => {
  for (const measures of [
    ['v.count', 'a.count'],
    ['a.count', 'v.count'],
  ])
    expect(errorOf(twoWays, { measures }).issues[0]!.path).toBe('measures[1]');
});
