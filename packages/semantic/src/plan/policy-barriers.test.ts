/** A row that a policy hides cannot make a query fail: nothing is computed from it before the policy is decided. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Engine, openClickHouse, openDuckDb, openPostgres } from '../../test/engines.ts';
import { modelOf, planOf, somebody } from '../../test/plans.ts';
import { sqlPlanOf } from '../../test/sql.ts';
import type { DialectName, Model, Viewer } from '../index.ts';

/** Texts that are cast are never null, because ClickHouse makes null of others that are no numbers, instead of failing. */
const TABLES = [
  'create table fence_owners (id integer, code text not null, tenant text)',
  "insert into fence_owners values (1, '1', 'a'), (2, '2', 'a'), (3, 'x', 'b')",
  'create table fence_rows (id integer, tenant text, n integer, txt text not null, owner text not null)',
  "insert into fence_rows values (1, 'a', 1, '7', '1'), (2, 'a', 2, '8', '2'), (3, 'b', 0, 'x', 'y'), (4, 'b', 0, '99999999999999', '3')",
  'create table fence_sums (id integer, tenant text, amount decimal(38, 10))',
  "insert into fence_sums values (1, 'a', 0.5), (2, 'a', 0.1), (3, 'b', 1000000000000000000000000000)",
  'create table fence_marks (id integer, row_id text not null, tenant text)',
  "insert into fence_marks values (1, '1', 'a'), (2, '1', 'a'), (3, 'z', 'b')",
];

/** A policy that takes longer than the conditions it must precede, so that databases would like to compute it last. */
const POLICY = `    access_policy:
      - group: "*"
        row_level:
          filters:
            - or:
${['a%', 'b%', 'c%', 'd%', 'e%', 'f%', 'g%'].map((text) => `                - { member: tenant, operator: contains, values: ["${text}"] }`).join('\n')}
                - { member: tenant, operator: equals, values: ["{ userAttributes.tenant }"] }
`;
const yaml = (dialect: DialectName) => {
  const number = (column: string) =>
    dialect === 'clickhouse' ? `toInt32(${column})` : `cast(${column} as integer)`;
  const time =
    dialect === 'clickhouse'
      ? 'parseDateTimeBestEffort({CUBE}.txt)'
      : "timestamp '2024-01-01' + cast({CUBE}.txt as integer) * interval '1 day'";
  const quotient =
    dialect === 'clickhouse'
      ? 'intDiv(100, {CUBE}.n)'
      : dialect === 'duckdb'
        ? "cast(replace('1' || {CUBE}.txt, 'x', 'y') as integer)"
        : '100 / {CUBE}.n';
  return `cubes:
  - name: things
    sql_table: fence_rows
    joins:
      - { name: owners, relationship: many_to_one, sql: "${number('{CUBE}.owner')} = ${number('{owners}.code')}" }
      - { name: marks, relationship: one_to_many, sql: "{CUBE}.id = ${number('{marks}.row_id')} and ${number('{CUBE}.txt')} > 0" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: tenant, sql: tenant, type: string }
      - { name: txt, sql: txt, type: string }
      - { name: number, sql: "${number('{CUBE}.txt')}", type: number }
      - { name: again, sql: "{number} + 1", type: number }
      - { name: quotient, sql: "${quotient}", type: number }
      - { name: at, sql: "${time}", type: time }
      - { name: marks_count, sql: "{marks.count}", type: number, sub_query: true }
      - name: label
        type: string
        case: { when: [{ sql: "{number} > 7", label: large }], else: { label: small } }
    measures:
      - { name: count, type: count }
      - { name: total, sql: "{number}", type: sum }
      - { name: some, type: count, filters: [{ sql: "{number} > 7" }] }
      - { name: own, sql: "sum({number}) + min({quotient})", type: number }
      - { name: rolling, sql: "{number}", type: sum, rolling_window: { trailing: unbounded } }
    segments:
      - { name: large, sql: "{number} > 7" }
${POLICY}
  - name: owners
    sql_table: fence_owners
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: tenant, sql: tenant, type: string }
      - { name: number, sql: "${number('{CUBE}.code')}", type: number }
      - { name: things_count, sql: "{things.total}", type: number, sub_query: true }
    measures:
      - { name: count, type: count }
${POLICY}
  - name: marks
    sql_table: fence_marks
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: tenant, sql: tenant, type: string }
      - { name: number, sql: "${number('{CUBE}.row_id')}", type: number }
    measures:
      - { name: count, type: count }
${POLICY}
  - name: queried
    sql: select id, tenant, ${number('txt')} as number from fence_rows
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: tenant, sql: tenant, type: string }
      - { name: number, sql: number, type: number }
    measures:
      - { name: count, type: count }
${POLICY}
  - name: sums
    sql_table: fence_sums
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: tenant, sql: tenant, type: string }
      - { name: amount, sql: amount, type: number }
    measures:
      - { name: count, type: count }
${POLICY}
views:
  - name: everything
    cubes:
      - { join_path: things, includes: [count, number] }
      - { join_path: things.owners, prefix: true, includes: [number] }
`;
};

const viewer: Viewer = { ...somebody, userAttributes: { tenant: 'a' } };
const other: Viewer = { ...somebody, userAttributes: { tenant: 'b' } };

let engines: { engine: Engine; model: Model }[] = [];
beforeAll(async () => {
  const url = process.env.ORIEL_TEST_CLICKHOUSE_URL;
  const opened = [await openDuckDb(), await openPostgres(inject('postgresUrl'))];
  if (url) opened.push(await openClickHouse(url));
  for (const engine of opened) for (const statement of TABLES) await engine.run(statement);
  engines = opened.map((engine) => ({ engine, model: modelOf(yaml(engine.dialect)) }));
});
afterAll(async () => {
  for (const { engine } of engines) await engine.close();
});

const filter = (member: string, operator: string, ...values: string[]) => ({ member, operator, values });
const COUNT = { measures: ['things.count'] };
const range = { dateRange: ['2024-01-01', '2024-12-31'] };

test.each<[string, object, string[][] | Record<DialectName, string[][]>]>([
  ['a dimension', { dimensions: ['things.number'] }, [['7'], ['8']]],
  ['a dimension of another one', { dimensions: ['things.again'] }, [['8'], ['9']]],
  ['a case', { dimensions: ['things.label'] }, [['large'], ['small']]],
  [
    'rows that are not grouped',
    { dimensions: ['things.number'], ungrouped: true, order: { 'things.number': 'asc' } },
    [['7'], ['8']],
  ],
  ['a filter', { ...COUNT, filters: [filter('things.number', 'gt', '7')] }, [['1']]],
  ['a filter on a quotient', { ...COUNT, filters: [filter('things.quotient', 'gt', '0')] }, [['2']]],
  [
    'a comparison with a decimal that not every number fits beside',
    { measures: ['sums.count'], filters: [filter('sums.amount', 'gt', '0.123456789012345678')] },
    [['1']],
  ],
  [
    'a comparison with one of several such decimals',
    {
      measures: ['sums.count'],
      filters: [filter('sums.amount', 'notEquals', '0.123456789012345678', '0.223456789012345678')],
    },
    [['2']],
  ],
  ['a filter on a case', { ...COUNT, filters: [filter('things.label', 'contains', 'arg')] }, [['1']]],
  [
    'filters with or',
    {
      ...COUNT,
      filters: [{ or: [filter('things.txt', 'equals', '7'), filter('things.again', 'equals', '9')] }],
    },
    [['2']],
  ],
  [
    'a filter of a query that is not grouped',
    { dimensions: ['things.id'], ungrouped: true, filters: [filter('things.number', 'lt', '8')] },
    [['1']],
  ],
  ['a segment', { ...COUNT, segments: ['things.large'] }, [['1']]],
  [
    'the filter of a measure',
    { ...COUNT, filters: [{ member: 'things.some', operator: 'measureFilter' }] },
    [['1']],
  ],
  [
    'the filter of a measure, with a filter on a joined cube',
    {
      ...COUNT,
      filters: [{ member: 'things.some', operator: 'measureFilter' }, filter('owners.tenant', 'equals', 'a')],
    },
    [['1']],
  ],
  ['measures', { measures: ['things.total', 'things.some'] }, [['15', '1']]],
  [
    'a measure that is an aggregate itself',
    { measures: ['things.own'], filters: [filter('things.number', 'gt', '0')] },
    { duckdb: [['32']], postgres: [['65']], clickhouse: [['65']] },
  ],
  [
    'a filter on a measure',
    { dimensions: ['things.id'], measures: ['things.total'], filters: [filter('things.total', 'gt', '7')] },
    [['2', '8']],
  ],
  [
    'a time dimension',
    { ...COUNT, timeDimensions: [{ dimension: 'things.at', granularity: 'year', ...range }] },
    [['2024-01-01 00:00:00', '2']],
  ],
  [
    'a rolling window',
    {
      measures: ['things.rolling'],
      timeDimensions: [{ dimension: 'things.at', granularity: 'year', ...range }],
    },
    [['2024-01-01 00:00:00', '15']],
  ],
  [
    'a join of casts',
    { ...COUNT, dimensions: ['owners.id'] },
    [
      ['1', '1'],
      ['2', '1'],
    ],
  ],
  [
    'a filter on the other side of a join',
    { ...COUNT, filters: [filter('owners.number', 'gt', '1')] },
    [['1']],
  ],
  ['a join that multiplies rows', { measures: ['things.total'], dimensions: ['marks.number'] }, [['1', '7']]],
  [
    'a sub-query',
    { dimensions: ['things.id', 'things.marks_count'], filters: [filter('things.marks_count', 'set')] },
    [
      ['1', '2'],
      ['2', '0'],
    ],
  ],
  [
    'a sub-query in another cube',
    { dimensions: ['owners.id', 'owners.things_count'] },
    [
      ['1', '7'],
      ['2', '8'],
    ],
  ],
  [
    'the SQL of a cube',
    { measures: ['queried.count'], filters: [filter('queried.number', 'gt', '7')] },
    [['1']],
  ],
  [
    'a view',
    {
      measures: ['everything.count'],
      filters: [filter('everything.number', 'gt', '0'), filter('everything.owners_number', 'gt', '1')],
    },
    [['1']],
  ],
])('%s is not computed for a row that the viewer may not see', async (_, query, rows) => {
  for (const { engine, model } of engines) {
    if (engine.dialect === 'clickhouse' && JSON.stringify(query).includes('things.at')) continue;
    const { statement } = planOf(model, query, viewer, engine.dialect);
    const expected = Array.isArray(rows) ? rows : rows[engine.dialect];
    expect(await engine.rows(statement), statement.sql).toEqual(expected);
  }
});

test('for the viewer who sees these rows, the query fails', async () => {
  for (const { engine, model } of engines) {
    const { statement } = planOf(
      model,
      { ...COUNT, filters: [filter('things.number', 'gt', '7')] },
      other,
      engine.dialect,
    );
    await expect(engine.rows(statement)).rejects.toThrow();
  }
});

test('a condition of SQL is not computed for a row that only the policy of a view hides', async () => {
  for (const { engine } of engines) {
    const text = yaml(engine.dialect).replaceAll(POLICY, '');
    const view = `  - name: guarded
    cubes: [{ join_path: things, includes: [id, tenant, txt] }]
${POLICY}`;
    const select = 'select id from guarded where cast(txt as integer) > 7';
    const { statement } = sqlPlanOf(modelOf(text + view), select, viewer, engine.dialect);
    expect(await engine.rows(statement), statement.sql).toEqual([['2']]);
  }
});

const whereOf = (query: object, who = viewer) =>
  planOf(engines[1]!.model, query, who, 'postgres').statement.sql.replace(/\s+/g, ' ');

test('columns that are compared with values stay outside of the barrier, where an index finds them', () => {
  const sql = whereOf({
    ...COUNT,
    filters: [
      filter('things.id', 'equals', '1'),
      filter('things.number', 'gt', '7'),
      filter('things.txt', 'startsWith', 'x'),
    ],
  });
  expect(sql).toMatch(
    /where "things"\.id = \$1::bigint and \("things"\.txt\)::text ilike \$2::text and case when/,
  );
});

test('so do columns of SQL that only lists them', () => {
  const where = (columns: string) => {
    const text = yaml('postgres').replace(
      /sql: select .* from fence_rows/,
      `sql: select ${columns} from fence_rows`,
    );
    const query = { measures: ['queried.count'], filters: [filter('queried.number', 'gt', '7')] };
    return planOf(modelOf(text), query, viewer, 'postgres').statement.sql.replace(/\s+/g, ' ');
  };
  for (const columns of ['*', 'id, tenant, number'])
    expect(where(columns)).toContain('where "queried".number >');
  expect(where('id, tenant, n + 1 as number')).toMatch(/where case when .* then "queried".number >/);
});

test('a join is behind a barrier where SQL is behind a column of the partner', () => {
  const joinTo = (partner: string) =>
    yaml('postgres').replace(
      '    joins:\n',
      `    joins:\n      - { name: queried, relationship: many_to_one, sql: "${partner}" }\n`,
    );
  const joinOf = (partner: string) =>
    planOf(
      modelOf(joinTo(partner)),
      { ...COUNT, dimensions: ['queried.id'] },
      viewer,
      'postgres',
    ).statement.sql.replace(/\s+/g, ' ');
  expect(joinOf('{CUBE}.id = {queried}.number')).toMatch(
    /on "things"\.id = case when .* then "queried"\.number end/,
  );
  expect(joinOf('{CUBE}.id = {queried.number}')).toMatch(
    /on "things"\.id = case when .* then "queried"\.number end/,
  );
});

test('a policy of a view that compares a sub-query guards the joins after it, whatever their cubes are called', () => {
  // The column of a sub-query is called `m1`, as the cube is that is joined after it.
  const model = modelOf(`cubes:
  - name: a
    sql_table: a
    joins:
      - { name: b, relationship: many_to_one, sql: "{CUBE}.b_id = {b.id}" }
      - { name: marks, relationship: one_to_many, sql: "{CUBE}.id = {marks}.a_id" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: marks_count, sql: "{marks.count}", type: number, sub_query: true }
  - name: b
    sql_table: b
    joins:
      - { name: m1, relationship: many_to_one, sql: "cast({CUBE}.code as integer) = {m1.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: tenant, sql: "{m1}.tenant", type: string }
    access_policy:
      - { group: "*", row_level: { filters: [{ member: tenant, operator: equals, values: [a] }] } }
  - name: m1
    sql_table: m1
    dimensions: [{ name: id, sql: id, type: number, primary_key: true, public: true }]
  - name: marks
    sql_table: marks
    dimensions: [{ name: id, sql: id, type: number, primary_key: true }]
    measures: [{ name: count, type: count }]
views:
  - name: v
    cubes:
      - { join_path: a, includes: [id, marks_count] }
      - { join_path: a.b, prefix: true, includes: [id] }
    access_policy:
      - { group: "*", row_level: { filters: [{ member: marks_count, operator: gt, values: [1] }] } }
`);
  const { sql } = planOf(model, { dimensions: ['v.id', 'v.b_id'] }, viewer, 'postgres').statement;
  expect(sql).toMatch(
    /join m1 as "m1" on case when [^\n]*"a_marks_count"\."m1"[^\n]* then cast\("b"\.code as integer\) end =/,
  );
});

test('without a policy nothing is behind a barrier', () => {
  const model = modelOf(yaml('postgres').replaceAll(POLICY, ''));
  for (const query of [
    { ...COUNT, filters: [filter('things.number', 'gt', '7')], segments: ['things.large'] },
    { ...COUNT, dimensions: ['owners.id'] },
  ])
    expect(planOf(model, query, viewer, 'postgres').statement.sql).not.toContain('case when "');
});

test.each([
  ['lets rows without a partner through', '{ member: tenant, operator: notSet }'],
  ['compares SQL that is not null for them', '{ member: place, operator: equals, values: [nowhere] }'],
])('a row whose partner is hidden stays hidden, if the policy %s', async (_, filter) => {
  const policy = `    access_policy: [{ group: "*", row_level: { filters: [${filter}] } }]
`;
  for (const { engine } of engines) {
    const text = yaml(engine.dialect)
      .replaceAll(POLICY, '')
      .replace(
        '    measures:\n      - { name: count, type: count }\n\n  - name: marks',
        `      - { name: place, sql: "coalesce({CUBE}.tenant, 'nowhere')", type: string }\n${policy}\n  - name: marks`,
      );
    const query = { ...COUNT, dimensions: ['owners.id'] };
    const casts = text.replace(
      /sql: ".*= .*code.*" }/,
      'sql: "lower({CUBE}.owner) = lower({owners}.code)" }',
    );
    // The owner of the last two rows does not exist.
    const { statement } = planOf(modelOf(casts), query, viewer, engine.dialect);
    expect(await engine.rows(statement), statement.sql).toEqual([[null, '2']]);
  }
});

const joinedBy = (condition: string, dialect: DialectName) =>
  yaml(dialect).replace(/(name: owners, .*) sql: ".*" }/, `$1 sql: "${condition}" }`);
const TXT = 'cast({CUBE}.txt as integer)';
const CODE = 'cast({owners}.code as integer)';
const BOTH = [
  ['1', '1'],
  ['2', '2'],
];

test.each<[string, string[][]]>([
  [`${TXT} - 6 = ${CODE}`, BOTH],
  [`{CUBE}.id + ${TXT} = {owners}.id * 2 + 6`, BOTH],
  [`coalesce(${TXT} - 6 = ${CODE} and {CUBE}.n > 0, false)`, BOTH],
  [`{CUBE}.id = {owners}.id or ${TXT} > ${CODE} + 100`, BOTH],
  [`starts_with({CUBE}.txt, '7') and ${TXT} - 6 = ${CODE}`, [['1', '1']]],
  [
    `${TXT} - 6 >= ${CODE}`,
    [
      ['1', '1'],
      ['2', '1'],
      ['2', '2'],
    ],
  ],
])('a join by %s compares no row that is hidden', async (condition, rows) => {
  for (const { engine } of engines) {
    if (engine.dialect === 'clickhouse') continue;
    const query = {
      dimensions: ['things.id', 'owners.id'],
      order: { 'things.id': 'asc', 'owners.id': 'asc' },
    };
    const { statement } = planOf(modelOf(joinedBy(condition, engine.dialect)), query, viewer, engine.dialect);
    expect(await engine.rows(statement), statement.sql).toEqual(rows);
  }
});

test('a join needs no table that is joined after it', async () => {
  const bosses = `  - name: bosses
    sql_table: fence_owners
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: tenant, sql: tenant, type: string }
  - name: owners
    sql_table: fence_owners
    joins: [{ name: bosses, relationship: many_to_one, sql: "{CUBE}.id = {bosses}.id" }]
    dimensions:
      - { name: boss, sql: "{bosses.tenant}", type: string }
`;
  const both = `    access_policy:
      - group: "*"
        row_level: { filters: [{ member: tenant, operator: set }, { member: boss, operator: equals, values: [a] }] }

  - name: marks`;
  for (const { engine, model } of engines) {
    const three = planOf(model, { dimensions: ['owners.id', 'marks.id'] }, viewer, engine.dialect).statement;
    expect(await engine.rows(three), three.sql).toEqual([
      ['1', '1'],
      ['1', '2'],
    ]);
    const text = yaml(engine.dialect)
      .replace('  - name: owners\n    sql_table: fence_owners\n    dimensions:\n', bosses)
      .replace(`${POLICY}\n  - name: marks`, both)
      .replace(/(name: owners, .*) sql: ".*" }/, '$1 sql: "lower({CUBE}.owner) = lower({owners}.code)" }');
    const query = { dimensions: ['things.id', 'owners.id'] };
    const { statement } = planOf(modelOf(text), query, viewer, engine.dialect);
    expect(await engine.rows(statement), statement.sql).toEqual(BOTH);
  }
});

test('each side of a join depends on its own table, by which databases look up partners', () => {
  const onOf = (text: string) =>
    / on (.*?) where /.exec(
      planOf(
        modelOf(text),
        { dimensions: ['things.id', 'owners.id'] },
        viewer,
        'postgres',
      ).statement.sql.replace(/\s+/g, ' '),
    )![1]!;
  const sides = onOf(yaml('postgres')).split(' end = ');
  expect(sides.map((side) => [side.includes('"things"'), side.includes('"owners"')])).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(onOf(joinedBy('{CUBE}.id + {CUBE}.n = {owners}.id', 'postgres'))).toMatch(
    /^case when .* then "things"\.id \+ "things"\.n end = "owners"\.id$/,
  );
  const open = yaml('postgres').replace(`${POLICY}\n  - name: marks`, '\n  - name: marks');
  expect(onOf(open)).toMatch(/end = cast\("owners"\.code as integer\)$/);
});

test.each<[string, string, DialectName[]]>([
  ['a text in quotes', "'rock  AND  roll'", ['duckdb', 'postgres', 'clickhouse']],
  ['a text in dollars', "$$rock'n  AND  roll$$", ['duckdb', 'postgres', 'clickhouse']],
  ['a text with a tag in dollars', '$x$a = $$b  AND  c$x$', ['duckdb', 'postgres']],
  ['a text with a backslash', "E'rock\\\\'n  AND  roll'", ['duckdb', 'postgres']],
  ['a text of ClickHouse', "'rock\\\\'n  AND  roll'", ['clickhouse']],
  ['a name of ClickHouse', '`a  AND  b`', ['clickhouse']],
])('%s in a join stays as it is', (_, text, dialects) => {
  const model = modelOf(
    yaml('postgres').replace(
      /(name: owners, .*) sql: ".*" }/,
      `$1 sql: "{CUBE}.id = {owners}.id and lower({CUBE}.txt) = ${text.replaceAll('$', '$$$$')}" }`,
    ),
  );
  for (const dialect of dialects) {
    const { sql } = planOf(model, { ...COUNT, dimensions: ['owners.id'] }, viewer, dialect).statement;
    const read = text.replaceAll('\\\\', '\\');
    expect(sql).toContain(`then lower("things".txt) end = ${read}`);
  }
});
