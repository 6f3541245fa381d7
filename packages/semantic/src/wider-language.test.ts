/** Models that were written for the wider language: what is taken, with which notes, and within which bounds. */
import { describe, expect, test } from 'vitest';
import { compileText, customers, expectError, JOIN, orders, withMeasure } from '../test/marked.ts';
import { errorOf, planOf, somebody } from '../test/plans.ts';
import { metaOf } from './index.ts';

/** What the text compiles to, with the codes of its warnings but for the one that none of these models has a policy. */
function taken(text: string) {
  const { model, errors, warnings: all } = compileText(text);
  const warnings = all.filter(({ code }) => code !== 'no_access_policy');
  expect(errors).toEqual([]);
  return { model: model!, codes: warnings.map(({ code }) => code), warnings };
}

test('a blank key is nothing, unless it would restrict who sees what', () => {
  expect(taken(orders('    pre_aggregations:\n    joins:\n    calendar:\n')).codes).toEqual([]);
  expect(compileText(orders('    acces_policy:\n')).errors).toMatchObject([{ code: 'unknown_key' }]);
  expect(compileText(orders('    access_policy:\n')).errors).toMatchObject([{ code: 'bad_value' }]);
});

test('pre-aggregations that are given are a warning', () => {
  const { warnings } = taken(
    orders('    pre_aggregations:\n      - { name: main, measures: [CUBE.count] }\n'),
  );
  expect(warnings).toMatchObject([{ code: 'not_used', line: 16 }]);
});

test('older and camelCase words are taken, and the new word is offered', () => {
  const { model, warnings } = taken(`cubes:
  - name: orders
    sqlTable: t
    shown: false
    joins:
      - { name: customers, relationship: belongsTo, sql: "{CUBE}.c = {customers.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primaryKey: true }
    measures:
      - { name: buyers, sql: c, type: countDistinct, drillMemberReferences: [id] }
    accessPolicy:
      - { group: sales, memberLevel: { excludes: [id] } }
${customers('    access_policy: [{ group: "*" }]\n')}`);
  const cube = model.cubes.get('orders')!;
  expect(cube).toMatchObject({ public: false, primaryKey: ['id'], from: { table: 't' } });
  expect(cube.joins.get('customers')!.relationship).toBe('many_to_one');
  expect(cube.measures.get('buyers')).toMatchObject({
    type: 'count_distinct',
    drillMembers: [{ member: 'id' }],
  });
  expect([...cube.policies[0]!.members]).toEqual(['buyers']);
  expect(warnings.map(({ hint }) => hint)).toEqual(
    [
      'sql_table',
      'public',
      'many_to_one',
      'primary_key',
      'count_distinct',
      'drill_members',
      'access_policy',
      'member_level',
    ].map((word) => `Write \`${word}\`.`),
  );
  expect(compileText(orders('    public: true\n    shown: false\n')).errors).toMatchObject([
    { code: 'duplicate_key' },
  ]);
});

describe('extends', () => {
  const BASE = `cubes:
  - name: base
    sql_table: t
    public: false
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
    measures:
      - { name: count, type: count }
    access_policy: [{ group: sales }]
`;
  const cube = (more: string) =>
    taken(`${BASE}  - name: child\n    extends: base\n${more}`).model.cubes.get('child')!;

  test('a cube takes over what it does not say itself, its policies too', () => {
    const child = cube(`    sql: select * from u
    public: true
    dimensions: [{ name: status, sql: "upper({CUBE}.status)", type: string }, { name: more, sql: more, type: string }]
`);
    expect([...child.dimensions.keys()]).toEqual(['id', 'status', 'more']);
    expect(child).toMatchObject({ from: { query: 'select * from u' }, public: true, primaryKey: ['id'] });
    expect(child.dimensions.get('status')!.value).toEqual([
      'upper(',
      expect.objectContaining({ cube: 'child' }),
      '.status)',
    ]);
    expect(child.policies).toMatchObject([{ groups: ['sales'] }]);
    expect(cube('    access_policy: [{ group: "*" }]\n').policies).toMatchObject([{ groups: '*' }]);
    expect(cube('').public).toBe(false);
  });

  test('a view takes over the cubes of another one', () => {
    const { model } = taken(`${orders(JOIN)}${customers()}views:
  - name: base
    cubes: [{ join_path: orders, includes: [count] }]
    access_policy: [{ group: sales }]
  - name: wide
    extends: base
    cubes: [{ join_path: orders.customers, includes: [region] }]
`);
    const wide = model.views.get('wide')!;
    expect([...wide.members.keys()]).toEqual(['count', 'region']);
    expect(wide.policies).toHaveLength(1);
    expectError('views:\n  - «name: alone\n  - { name: other, extends: alone }\n', { code: 'missing_key' });
  });

  test('circles, long chains and what is not there are refused', () => {
    const chain = (length: number, last: string) =>
      `cubes:\n${Array.from({ length }, (_, i) => `  - { name: c${i}, sql_table: t, extends: ${i + 1 < length ? `c${i + 1}` : last} }\n`).join('')}`;
    expect(compileText(chain(2, 'c0')).errors).toMatchObject([{ code: 'reference_cycle' }]);
    expect(compileText(chain(100, 'c0')).errors[0]).toMatchObject({ code: 'too_deep' });
    const many = Array.from({ length: 30 }, (_, i) => `  - { name: d${i}, extends: c0 }\n`).join('');
    // Only the two ends of the chain are reported, and not each of the many.
    const { errors } = compileText(chain(22, 'none').replace(', extends: none', '') + many);
    expect(errors.map(({ line }) => line)).toEqual([2, 23]);
    expectError('cubes:\n  - { name: a, sql_table: t, extends: «bse }\n  - { name: base, sql_table: t }\n', {
      code: 'unknown_name',
      hint: /base/,
    });
  });

  const LONG = 'x'.repeat(60_000);
  test.each([
    [
      'members',
      `sql_table: t, dimensions: [${Array.from({ length: 2000 }, (_, i) => `{ name: d${i}, sql: c, type: string }`)}]`,
    ],
    ['SQL', `sql: select ${LONG}`],
    [
      'aliases',
      `meta: { a: &long "${LONG}" }, sql_table: t, dimensions: [{ name: a, sql: *long, type: string }, { name: b, sql: *long, type: string }, { name: c, sql: *long, type: string }]`,
    ],
  ])('what is taken over is bounded: %s', (_, base) => {
    const many = Array.from({ length: 400 }, (_, i) => `  - { name: c${i}, extends: base }\n`).join('');
    expect(compileText(`cubes:\n  - { name: base, ${base} }\n${many}`).errors).toMatchObject([
      { code: 'too_large', message: expect.stringContaining('take over') },
    ]);
  });
});

describe('anchors', () => {
  test('an alias stands for its anchor, and << takes over its keys', () => {
    const { model } = taken(`cubes:
  - name: orders
    sql_table: t
    dimensions:
      - &text { name: a, sql: a, type: string, title: A }
      - { <<: *text, name: b }
      - { <<: [*text, { description: B }], name: c, sql: &col x }
      - { name: d, type: string, sql: *col }
`);
    const { dimensions } = model.cubes.get('orders')!;
    expect(dimensions.get('b')).toMatchObject({ type: 'string', title: 'A', value: [{}, '.a'] });
    expect(dimensions.get('c')).toMatchObject({ description: 'B', value: [{}, '.x'] });
    expect(dimensions.get('d')).toMatchObject({ value: [{}, '.x'] });
  });

  test('an alias within its own anchor, or without one, is refused', () => {
    expectError('cubes:\n  - &a { name: x, sql_table: t, meta: { more: «*a } }\n', { code: 'invalid_yaml' });
    expectError('cubes:\n  - «*b\n', { code: 'invalid_yaml' });
  });

  test('a map with very many keys can be merged', () => {
    const keys = Array.from({ length: 150_000 }, (_, i) => `k${i}: 1`);
    const { errors } = compileText(`cubes: [{ meta: { <<: { ${keys} } }, name: a, sql_table: t }]\n`);
    expect(errors).toMatchObject([{ code: 'too_large' }]);
  });

  test('aliases of aliases repeat only so much, and only so deep', () => {
    const laughs = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`)}]`);
    const meta = (lines: string[]) => `cubes:
  - name: orders
    sql_table: t
    meta:
      l0: &l0 lol
      ${lines.join('\n      ')}
`;
    expect(compileText(meta(laughs)).errors[0]).toMatchObject({ code: 'too_large' });
    const deep = Array.from({ length: 500 }, (_, i) => `l${i + 1}: &l${i + 1} { x: *l${i} }`);
    expect(compileText(meta(deep)).errors[0]).toMatchObject({ code: 'too_deep' });
  });
});

test('a granularity with the name of a unit is ignored with a warning, because the name always means the unit', () => {
  const { model, warnings } = taken(
    orders().replace(
      'type: time }',
      'type: time, granularities: [{ name: month, interval: 1 month, offset: 3 days }] }',
    ),
  );
  expect(warnings).toMatchObject([
    {
      code: 'not_used',
      message:
        'The granularity `month` of `created_at` is ignored, because `month` always means the built-in one.',
    },
  ]);
  const query = { timeDimensions: [{ dimension: 'orders.created_at', granularity: 'month' }] };
  const plain = taken(orders()).model;
  expect(planOf(model, query).statement).toEqual(planOf(plain, query).statement);
});

test('hints for other programs are a warning, and a running total is told how it is written', () => {
  const { warnings } = taken(
    orders('    rewriteQueries: true\n').replace('type: time }', 'type: time, suggestFilterValues: false }'),
  );
  expect(warnings.map(({ code }) => code)).toEqual(['not_used', 'not_used']);
  expect(compileText(withMeasure('{ name: m, sql: a, type: runningTotal }')).errors).toMatchObject([
    { code: 'bad_value', hint: expect.stringContaining('rolling_window: { trailing: unbounded }') },
  ]);
});

test('measures may be among the drill members, and are shown apart', () => {
  const { model } = taken(withMeasure('{ name: m, type: count, drill_members: [status, total] }'));
  const [cube] = metaOf(model, somebody);
  expect(cube!.measures.find(({ name }) => name === 'orders.m')).toMatchObject({
    drillMembers: ['orders.status', 'orders.total'],
    drillMembersGrouped: { measures: ['orders.total'], dimensions: ['orders.status'] },
  });
});

test('a member that a view includes twice is a warning, and another one of the same name an error', () => {
  const view = (includes: string, second = '') =>
    `${orders(JOIN)}${customers()}views:\n  - name: v\n    cubes:\n      - { join_path: orders, includes: ${includes} }\n${second}`;
  expect(taken(view('[status, status]')).codes).toEqual(['duplicate_name']);
  const other = '      - { join_path: orders.customers, includes: [count] }\n';
  expect(compileText(view('[count]', other)).errors).toMatchObject([{ code: 'duplicate_name' }]);
});

test('the name of a table may have hyphens, and is quoted', () => {
  const table = (name: string) =>
    taken(`cubes: [{ name: a, sql_table: ${name} }]\n`).model.cubes.get('a')!.from;
  expect(table('my-project.shop.order-lines')).toEqual({ table: '"my-project".shop."order-lines"' });
  for (const name of ['a--b', 'a-', '-a', 'a-b c', 'a-b;d', "'a-b'"])
    expect(
      compileText(`cubes:\n  - name: a\n    sql_table: ${JSON.stringify(name)}\n`).model,
    ).toBeUndefined();
});

test('a primary key is needed only where a join repeats rows', () => {
  const text = (relationship: string) => `cubes:
  - name: orders
    sql_table: t
    joins:
      - { name: customers, relationship: ${relationship}, sql: "{CUBE}.c = {customers.id}" }
    measures:
      - { name: count, type: count }
${customers()}  - name: visits
    sql_table: v
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.c = {customers.id}" }
    dimensions: [{ name: page, sql: page, type: string }]
`;
  expect(compileText(text('one_to_many')).errors).toMatchObject([{ code: 'no_primary_key' }]);
  const { model } = taken(text('many_to_one'));
  // Through customers, which have several visits each.
  expect(errorOf(model, { measures: ['orders.count'], dimensions: ['visits.page'] }, somebody)).toMatchObject(
    {
      code: 'unsupported_query',
      message: expect.stringContaining('primary key'),
    },
  );
});

test.each(['{CUBE}.status', '{CUBE.status}', '{status}', '{orders.status}', 'status'])(
  'a policy may name a member as %s',
  (member) => {
    const { model } = taken(
      orders(`    access_policy:
      - group: "*"
        row_level: { filters: [{ member: "${member}", operator: set }] }
        member_level: { includes: ["${member}"] }
`),
    );
    expect(model.cubes.get('orders')!.policies[0]).toMatchObject({
      rows: { and: [{ member: 'status' }] },
      members: new Set(['status']),
    });
  },
);

test.each([
  '{customers.status}',
  '{CUBE}.customers.status',
  '{status',
  'status}',
  '{CUBE}',
  '{{status}}',
  '{a b}',
])('a policy may not name a member as %s', (member) => {
  const { model } = compileText(
    orders(`    access_policy: [{ group: "*", member_level: { includes: ["${member}"] } }]\n`),
  );
  expect(model).toBeUndefined();
});

test('a long text instead of a member is refused in no time', () => {
  const member = `{${'a'.repeat(200_000)}!`;
  expectError(orders(`    access_policy: [{ group: "*", member_level: { includes: [«"${member}"] } }]\n`), {
    code: 'unknown_name',
  });
});
