/** Members that refer to each other many times, in every way that there is. */
import { expect, test } from 'vitest';
import { modelOf, NOW, planOf, somebody } from '../test/plans.ts';
import { sqlPlanOf } from '../test/sql.ts';
import { compileModel, createPlanBudget, planQuery, QueryError } from './index.ts';

const times = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i));
const ID = '{ name: id, sql: id, type: number, primary_key: true, public: true }';
const cubeText = (
  name: string,
  {
    joins = [],
    dimensions = [],
    measures = [],
    segments = [],
    policy = '',
  }: { [Part in 'joins' | 'dimensions' | 'measures' | 'segments']?: readonly string[] } & { policy?: string },
) => `  - name: ${name}
    sql_table: t
    joins: [${joins.join(', ')}]
    dimensions: [${[ID, ...dimensions].join(', ')}]
    measures: [${['{ name: count, type: count }', ...measures].join(', ')}]
    segments: [${segments.join(', ')}]
${policy}`;

interface Kind {
  /** A model with `count` levels, each of which is made from the one below. */
  model(count: number, twice: boolean): string;
  query: object;
  sql?: string;
  /** The largest count that the compiler accepts. */
  deepest: number;
  /** A count that the compiler refuses. Each level may be a cube. */
  tooDeep: number;
}
const refer = (name: string, twice: boolean, operator = '+') =>
  twice ? `{${name}} ${operator} {${name}}` : `{${name}} ${operator} 1`;
const chain = (count: number, make: (i: number) => string, last: string) => [...times(count, make), last];
const dimensionChain = (count: number, twice: boolean) =>
  chain(
    count,
    (i) => `{ name: d${i}, type: number, sql: "${refer(`d${i + 1}`, twice)}" }`,
    `{ name: d${count}, type: number, sql: x }`,
  );
const segmentChain = (count: number, twice: boolean) =>
  chain(
    count,
    (i) => `{ name: s${i}, sql: "${twice ? `{s${i + 1}} or {s${i + 1}}` : `not {s${i + 1}}`}" }`,
    `{ name: s${count}, sql: "{CUBE}.x > 1" }`,
  );

const KINDS: Record<string, Kind> = {
  dimensions: {
    deepest: 199,
    tooDeep: 5000,
    model: (count, twice) => `cubes:\n${cubeText('a', { dimensions: dimensionChain(count, twice) })}`,
    query: { dimensions: ['a.d0'] },
    sql: 'select d0 from a',
  },
  'labels of a case': {
    deepest: 199,
    tooDeep: 1000,
    model: (count, twice) =>
      `cubes:\n${cubeText('a', {
        dimensions: chain(
          count,
          (i) =>
            `{ name: d${i}, type: string, case: { when: [{ sql: "{d${i + 1}} = '1'", label: { sql: "{d${twice ? i + 1 : count}}" } }] } }`,
          `{ name: d${count}, type: string, sql: x }`,
        ),
      })}`,
    query: { dimensions: ['a.d0'] },
    sql: 'select d0 from a',
  },
  segments: {
    deepest: 199,
    tooDeep: 1000,
    model: (count, twice) => `cubes:\n${cubeText('a', { segments: segmentChain(count, twice) })}`,
    query: { measures: ['a.count'], segments: ['a.s0'] },
    sql: 'select count(*) from a where s0',
  },
  'filters of measures': {
    deepest: 198,
    tooDeep: 1000,
    model: (count, twice) =>
      `cubes:\n${cubeText('a', {
        segments: segmentChain(count, twice),
        measures: ['{ name: m, type: count, filters: [{ sql: "{s0}" }] }'],
      })}`,
    query: { measures: ['a.m'] },
    sql: 'select measure(m) from a',
  },
  'measures of type number': {
    deepest: 199,
    tooDeep: 1000,
    model: (count, twice) =>
      `cubes:\n${cubeText('a', {
        measures: chain(
          count,
          (i) =>
            `{ name: m${i}, type: number, sql: "${refer(`m${i + 1}`, twice, '/')}", filters: [{ sql: "{CUBE}.x > ${i}" }] }`,
          `{ name: m${count}, type: sum, sql: x }`,
        ),
      })}`,
    query: { measures: ['a.m0'] },
    sql: 'select measure(m0) from a',
  },
  'measures of ungrouped rows': {
    deepest: 199,
    tooDeep: 1000,
    model: (count, twice) =>
      `cubes:\n${cubeText('a', {
        measures: chain(
          count,
          (i) => `{ name: m${i}, type: number, sql: "${refer(`m${i + 1}`, twice)}" }`,
          `{ name: m${count}, type: sum, sql: x }`,
        ),
      })}`,
    query: { measures: ['a.m0'], ungrouped: true },
  },
  'measures that aggregate columns themselves': {
    deepest: 199,
    tooDeep: 1000,
    model: (count, twice) =>
      `cubes:\n${cubeText('a', {
        measures: chain(
          count,
          (i) =>
            `{ name: m${i}, type: number, sql: "${refer(`m${i + 1}`, twice)}${i === 0 ? ' + sum({CUBE}.y)' : ''}" }`,
          `{ name: m${count}, type: sum, sql: x }`,
        ),
      })}`,
    query: { measures: ['a.m0'] },
  },
  'members of a view': {
    deepest: 199,
    tooDeep: 1000,
    model: (count, twice) =>
      `cubes:\n${cubeText('a', { dimensions: dimensionChain(count, twice) })}views:\n  - name: v\n    cubes: [{ join_path: a, includes: [d0] }]\n`,
    query: { dimensions: ['v.d0'] },
    sql: 'select d0 from v',
  },
  policies: {
    deepest: 199,
    tooDeep: 1000,
    model: (count, twice) =>
      `cubes:\n${cubeText('a', {
        dimensions: dimensionChain(count, twice),
        policy:
          '    access_policy: [{ group: "*", row_level: { filters: [{ member: d0, operator: equals, values: [1] }] } }]\n',
      })}`,
    query: { measures: ['a.count'] },
    sql: 'select count(*) from a',
  },
  'members of other cubes': {
    deepest: 198,
    tooDeep: 400,
    model: (count, twice) =>
      `cubes:\n${times(count + 1, (i) =>
        cubeText(`c${i}`, {
          joins:
            i < count
              ? [
                  `{ name: c${i + 1}, relationship: many_to_one, sql: "{CUBE}.next = {c${i + 1}}.id and {CUBE.key} > 1" }`,
                ]
              : [],
          dimensions: [
            '{ name: key, type: number, sql: key }',
            `{ name: d, type: number, sql: "${i < count ? refer(`c${i + 1}.d`, twice) : '{CUBE}.x'}" }`,
          ],
        }),
      ).join('')}`,
    query: { dimensions: ['c0.d'] },
    sql: 'select d from c0',
  },
  'conditions of joins': {
    deepest: 100,
    tooDeep: 400,
    // The join to `c1` compares a dimension that is of `c2`, whose join compares one of `c3`, and so on.
    model: (count, twice) =>
      `cubes:\n${cubeText('a', {
        joins: times(
          count,
          (i) =>
            `{ name: c${i}, relationship: many_to_one, sql: "{c${i}}.id = ${i + 1 < count ? refer(`CUBE.d${i + 1}`, twice) : '{CUBE}.x'}" }`,
        ),
        dimensions: times(count, (i) => `{ name: d${i}, type: number, sql: "{c${i}.x}" }`),
      })}${times(count, (i) => cubeText(`c${i}`, { dimensions: ['{ name: x, type: number, sql: x }'] })).join('')}`,
    query: { dimensions: ['a.d0'] },
    sql: 'select d0 from a',
  },
  'sub-queries': {
    deepest: 99,
    tooDeep: 400,
    model: (count, twice) =>
      `cubes:\n${times(count + 1, (i) =>
        cubeText(`c${i}`, {
          joins:
            i < count
              ? [`{ name: c${i + 1}, relationship: one_to_many, sql: "{CUBE}.id = {c${i + 1}}.up" }`]
              : [],
          dimensions: [
            i < count
              ? `{ name: s, type: number, sub_query: true, sql: "${refer(`c${i + 1}.m`, twice)}" }`
              : '{ name: s, type: number, sql: x }',
          ],
          measures: [`{ name: m, type: sum, sql: "${twice ? '{s} + {s}' : '{s}'}" }`],
        }),
      ).join('')}`,
    query: { dimensions: ['c0.s'] },
    sql: 'select s from c0',
  },
};
/** What comes of it: SQL, or what is wrong. Nothing but a `QueryError` is an answer. */
function outcome(make: () => { statement: { sql: string } }) {
  try {
    return make().statement.sql.length;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
}

test.each(Object.entries(KINDS))(
  '%s that refer to each other much too deep are refused',
  (_, { model, tooDeep }) => {
    const { errors } = compileModel(new Map([['model/a.yml', model(tooDeep, false)]]));
    const expected = {
      code: 'too_deep',
      file: 'model/a.yml',
      line: expect.any(Number),
      message: expect.stringContaining('more than 200 deep'),
      hint: expect.stringContaining('directly'),
    };
    expect(errors).toEqual(errors.slice(0, 2).map(() => expect.objectContaining(expected)));
    expect(errors.length).toBeGreaterThan(0);
  },
);

test.each(Object.entries(KINDS))(
  '%s that refer to each other as deep as the compiler allows are planned',
  (_, kind) => {
    const model = modelOf(kind.model(kind.deepest, false));
    expect(compileModel(new Map([['model/a.yml', kind.model(kind.deepest + 1, false)]])).errors).not.toEqual(
      [],
    );
    expect(outcome(() => planOf(model, kind.query))).toBeGreaterThan(0);
    if (kind.sql) expect(outcome(() => sqlPlanOf(model, kind.sql!))).toBeGreaterThan(0);
  },
);

test.each(Object.entries(KINDS))('%s that name each other twice, 60 deep, are refused', (name, kind) => {
  const model = modelOf(kind.model(60, true));
  const expected =
    name === 'conditions of joins'
      ? expect.any(Number)
      : expect.stringMatching(/too long|too large together/);
  expect(outcome(() => planOf(model, kind.query))).toEqual(expected);
  if (kind.sql) expect(outcome(() => sqlPlanOf(model, kind.sql!))).toEqual(expected);
});

test('policies that lead from cube to cube without end are refused', () => {
  const next = { a: 'b', b: 'c', c: 'a' };
  const model = modelOf(
    `cubes:\n${Object.entries(next)
      .map(([name, to]) =>
        cubeText(name, {
          joins: [`{ name: ${to}, relationship: many_to_one, sql: "{CUBE}.${to} = {${to}}.id" }`],
          dimensions: [`{ name: d, type: number, sql: "{CUBE.${to}}.x" }`],
          policy:
            '    access_policy: [{ group: "*", row_level: { filters: [{ member: d, operator: equals, values: [1] }] } }]\n',
        }),
      )
      .join('')}`,
  );
  // A tenth of the budget is enough to see that it ends.
  const budget = () => createPlanBudget({ pieces: 1000 });
  const options = () => ({ dialect: 'duckdb', now: NOW, budget: budget() }) as const;
  const plan = () => planQuery(model, { measures: ['a.count'] }, somebody, options());
  expect(plan).toThrow('too large together');
  const statement = 'select count(*) from a';
  expect(() => sqlPlanOf(model, statement, somebody, 'duckdb', budget())).toThrow('too large together');
});

test.each([
  ['brackets', `${'('.repeat(20_000)}{count} / 2${')'.repeat(20_000)}`],
  ['divisions', `{count} ${'/ '.repeat(20_000)} 2`],
])('the SQL of a measure with 20,000 %s in each other is refused', (_, sql) => {
  const model = modelOf(
    `cubes:\n${cubeText('a', { measures: [`{ name: m, type: number, sql: "${sql}" }`] })}`,
  );
  expect(outcome(() => planOf(model, { measures: ['a.m'] }))).toContain('more than 200 deep');
});

test('long filters that measures pass on to those that they are made of are refused', () => {
  const measures = (length: number) =>
    chain(
      100,
      (i) =>
        `{ name: m${i}, type: number, sql: "{m${i + 1}} + 1", filters: [{ sql: "{CUBE}.x <> '${'x'.repeat(length)}'" }] }`,
      '{ name: m100, type: sum, sql: x }',
    );
  const planned = (length: number) =>
    outcome(() =>
      planOf(modelOf(`cubes:\n${cubeText('a', { measures: measures(length) })}`), { measures: ['a.m0'] }),
    );
  expect(planned(10)).toBeGreaterThan(0);
  expect(planned(1000)).toContain('too long');
});

test('a long text that every value of a filter is compared with is refused', () => {
  const model = modelOf(
    `cubes:\n${cubeText('a', { dimensions: [`{ name: d, type: string, sql: "concat({CUBE}.x, '${'x'.repeat(60_000)}')" }`] })}`,
  );
  const values = times(1000, (i) => `v${i}`);
  const query = { dimensions: ['a.d'], filters: [{ member: 'a.d', operator: 'contains', values }] };
  expect(outcome(() => planOf(model, query))).toContain('too long');
});

test('the queries of a request share the characters of SQL that they may write', () => {
  const model = modelOf(
    `cubes:\n${cubeText('a', { dimensions: [`{ name: d, type: string, sql: "concat({CUBE}.x, '${'x'.repeat(60_000)}')" }`] })}`,
  );
  const budget = createPlanBudget();
  const options = { dialect: 'duckdb', now: NOW, budget } as const;
  const plan = () => planQuery(model, { dimensions: ['a.d'] }, somebody, options);
  expect(plan().plans).toHaveLength(1);
  expect(() => times(50, plan)).toThrow('too long');
});
