/** One test for each part of the modelling language that no other file tests by itself; see docs/modelling-features.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, openDuckDb } from '../test/engines.ts';
import { errorOf, modelOf, planOf, somebody } from '../test/plans.ts';
import { metaOf } from './index.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await openDuckDb();
  await engine.run(
    'create table t (id int, name text, amount int, paid boolean, made_at timestamp, other int)',
  );
  await engine.run(`insert into t values
    (1, 'Ada', 10, true, '2024-01-01 10:00:00', 1), (2, 'Bob', 20, false, '2024-01-02 10:00:00', 1),
    (3, 'Ada', 30, true, '2024-01-03 10:00:00', 2), (4, null, null, null, null, null)`);
});
afterAll(() => engine.close());

const DIMENSIONS = `
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: name, sql: name, type: string }
      - { name: amount, sql: amount, type: number }
      - { name: paid, sql: paid, type: boolean }
      - { name: at, sql: made_at, type: time }`;
const cube = (lines: string, dimensions = '') =>
  modelOf(`cubes:\n  - name: t\n    sql_table: t\n    dimensions:${DIMENSIONS}${dimensions}\n${lines}`);
const rowsOf = async (model: ReturnType<typeof modelOf>, query: object) =>
  engine.rows(planOf(model, query).statement);

test('titles, descriptions, meta and formats are shown to clients', () => {
  const formats = ['imageUrl', 'link', 'id', 'currency', 'percent', 'number'];
  const about = 'title: A title, description: About it, meta: { a: 1 }';
  const model = cube(
    `    title: A title
    description: About it
    meta: { a: 1 }
    measures: [${formats
      .slice(3)
      .map((format) => `{ name: m_${format}, type: count, format: ${format}, ${about} }`)
      .join(', ')}]
    segments: [{ name: s, sql: "{CUBE}.paid", ${about} }]
    hierarchies: [{ name: h, title: A title, levels: [name, id] }]
views:
  - { name: v, ${about}, cubes: [{ join_path: t, includes: [name] }] }`,
    formats
      .map(
        (format) => `\n      - { name: d_${format}, sql: name, type: string, format: ${format}, ${about} }`,
      )
      .join(''),
  );
  const [shown, view] = metaOf(model, somebody);
  const described = { description: 'About it', meta: { a: 1 } };
  expect(shown).toMatchObject({ title: 'A title', ...described });
  expect(view).toMatchObject({ name: 'v', title: 'A title', ...described });
  const members = [...shown!.dimensions, ...shown!.measures];
  const withFormat = members.filter(({ format }) => format !== undefined);
  expect(withFormat.map(({ format }) => format)).toEqual([...formats, ...formats.slice(3)]);
  for (const member of [...withFormat, ...shown!.segments]) {
    expect(member).toMatchObject({ shortTitle: 'A title', ...described });
  }
  expect(shown!.hierarchies).toMatchObject([{ name: 't.h', title: 'A title', levels: ['t.name', 't.id'] }]);
});

test('what is not public cannot be queried', () => {
  const model = cube(
    `    measures: [{ name: m, type: count, public: false }]
    segments: [{ name: s, sql: "{CUBE}.paid", public: false }]
  - { name: c, sql_table: t, public: false, dimensions: [{ name: d, sql: id, type: number }] }
views:
  - { name: v, public: false, cubes: [{ join_path: t, includes: [name] }] }
  - { name: w, cubes: [{ join_path: t, includes: [amount, { name: name, public: false }] }] }`,
    '\n      - { name: d, sql: id, type: number, public: false }',
  );
  for (const query of [
    { dimensions: ['t.d'] },
    { measures: ['t.m'] },
    { dimensions: ['t.id'], segments: ['t.s'] },
    { dimensions: ['c.d'] },
    { dimensions: ['v.name'] },
    { dimensions: ['w.name'] },
  ]) {
    expect(errorOf(model, query).code).toBe('unknown_member');
  }
  expect(planOf(model, { dimensions: ['w.amount'] }).statement.sql).toContain('amount');
});

test('dimensions have values of their types', async () => {
  const query = { dimensions: ['t.id', 't.name', 't.paid', 't.at'], limit: 1 };
  const [row] = await rowsOf(cube(''), query);
  expect(row).toEqual([expect.anything(), 'Ada', true, expect.stringContaining('2024-01-01')]);
  const types = metaOf(cube(''), somebody)[0]!.dimensions.map(({ type }) => type);
  expect(types).toEqual(['number', 'string', 'number', 'boolean', 'time']);
});

test('measures aggregate rows as their types say', async () => {
  const types = ['count', 'count_distinct', 'count_distinct_approx', 'sum', 'avg', 'min', 'max'];
  const model = cube(
    `    measures: [${types.map((type) => `{ name: ${type}, type: ${type}, sql: amount }`).join(', ')}, { name: all, type: count }, { name: number, type: number, sql: "{sum} / {all}" }]`,
  );
  const [row] = await rowsOf(model, { measures: [...types, 'all', 'number'].map((name) => `t.${name}`) });
  expect(row!.map(Number)).toEqual([3, 3, 3, 60, 20, 10, 30, 4, 15]);
});

test('a measure counts only the rows that its filters let through', async () => {
  const model = cube(
    `    measures: [{ name: m, type: count, filters: [{ sql: "{CUBE}.amount > 10" }, { sql: "{paid}" }] }]`,
  );
  expect(await rowsOf(model, { measures: ['t.m'] })).toEqual([[expect.toSatisfy((n) => Number(n) === 1)]]);
});

test('a segment chooses rows', async () => {
  const model = cube('    segments: [{ name: s, sql: "{CUBE}.amount > 10" }]');
  expect(await rowsOf(model, { dimensions: ['t.name'], segments: ['t.s'] })).toEqual([['Ada'], ['Bob']]);
});

test('every operator of a policy keeps the rows that it says', async () => {
  const kept: Record<string, [filter: string, ids: number[]]> = {
    equals: ['member: name, values: [Ada]', [1, 3]],
    notEquals: ['member: name, values: [Ada]', [2]],
    contains: ['member: name, values: [d]', [1, 3]],
    notContains: ['member: name, values: [d]', [2]],
    startsWith: ['member: name, values: [A]', [1, 3]],
    notStartsWith: ['member: name, values: [A]', [2]],
    endsWith: ['member: name, values: [b]', [2]],
    notEndsWith: ['member: name, values: [b]', [1, 3]],
    gt: ['member: amount, values: [20]', [3]],
    gte: ['member: amount, values: [20]', [2, 3]],
    lt: ['member: amount, values: [20]', [1]],
    lte: ['member: amount, values: [20]', [1, 2]],
    set: ['member: name', [1, 2, 3]],
    notSet: ['member: name', [4]],
    inDateRange: ['member: at, values: [2024-01-01, 2024-01-02]', [1, 2]],
    notInDateRange: ['member: at, values: [2024-01-01, 2024-01-02]', [3]],
    beforeDate: ['member: at, values: [2024-01-02]', [1]],
    beforeOrOnDate: ['member: at, values: [2024-01-02]', [1, 2]],
    afterDate: ['member: at, values: [2024-01-02]', [3]],
    afterOrOnDate: ['member: at, values: [2024-01-02]', [2, 3]],
  };
  const seen: Record<string, number[]> = {};
  for (const [operator, [filter]] of Object.entries(kept)) {
    const model = cube(
      `    access_policy: [{ group: "*", row_level: { filters: [{ operator: ${operator}, ${filter} }] } }]`,
    );
    const rows = await rowsOf(model, { dimensions: ['t.id'] });
    seen[operator] = rows.map(([id]) => Number(id));
  }
  expect(seen).toEqual(
    Object.fromEntries(Object.entries(kept).map(([operator, [, ids]]) => [operator, ids])),
  );
});

test('filters of a policy are combined by and and or', async () => {
  const filter = (member: string, value: unknown) =>
    `{ member: ${member}, operator: equals, values: [${value}] }`;
  const model = cube(
    `    access_policy: [{ group: "*", row_level: { filters: [{ or: [{ and: [${filter('name', 'Ada')}, ${filter('amount', 30)}] }, ${filter('name', 'Bob')}] }] } }]`,
  );
  expect((await rowsOf(model, { dimensions: ['t.id'] })).map(([id]) => Number(id))).toEqual([2, 3]);
});

test('a rolling window reaches back and ahead, from the start or the end of a period', async () => {
  const windows = {
    back: 'trailing: 1 day',
    back_from_start: 'trailing: 1 day, offset: start',
    back_from_end: 'trailing: 2 days, offset: end',
    ahead: 'leading: 1 day',
    all: 'trailing: unbounded, leading: unbounded',
  };
  const model = cube(
    `    measures: [${Object.entries(windows)
      .map(([name, window]) => `{ name: ${name}, type: sum, sql: amount, rolling_window: { ${window} } }`)
      .join(', ')}]`,
  );
  const time = { dimension: 't.at', granularity: 'day', dateRange: ['2024-01-02', '2024-01-02'] };
  const measures = Object.keys(windows).map((name) => `t.${name}`);
  const [row] = await rowsOf(model, { measures, timeDimensions: [time] });
  expect(row!.slice(1).map(Number)).toEqual([20, 10, 30, 30, 60]);
});

test('joins of each relationship find the rows that belong together', async () => {
  const joined = (relationship: string, sql: string) =>
    cube(`    joins: [{ name: o, relationship: ${relationship}, sql: "${sql}" }]
    measures: [{ name: sum, type: sum, sql: amount }]
  - name: o
    sql: select * from t
    dimensions: [{ name: id, sql: id, type: number, primary_key: true }, { name: name, sql: name, type: string }]
    measures: [{ name: count, type: count }]`);
  const query = { measures: ['t.sum'], dimensions: ['o.name'] };
  const numbers = async (relationship: string, sql: string) =>
    (await rowsOf(joined(relationship, sql), query)).map(([name, sum]) => [
      name,
      sum === null ? null : Number(sum),
    ]);
  expect(await numbers('many_to_one', '{CUBE}.other = {o}.id')).toEqual([
    ['Ada', 30],
    ['Bob', 30],
    [null, null],
  ]);
  expect(await numbers('one_to_one', '{CUBE}.id = {o}.id')).toEqual([
    ['Ada', 40],
    ['Bob', 20],
    [null, null],
  ]);
  // Both rows that belong to the first one are of another name, so it counts for each name once.
  expect(await numbers('one_to_many', '{CUBE}.id = {o}.other')).toEqual([
    ['Ada', 30],
    [null, 30],
    ['Bob', 10],
  ]);
});

test('a cube names its data source', () => {
  const model = modelOf(
    'cubes: [{ name: a, sql_table: t, data_source: second, dimensions: [{ name: id, sql: id, type: number }] }]',
  );
  expect(planOf(model, { dimensions: ['a.id'] }).dataSource).toBe('second');
});

test('drill members are dimensions that clients show behind a number', () => {
  const model = cube('    measures: [{ name: m, type: count, drill_members: [name, at] }]');
  expect(metaOf(model, somebody)[0]!.measures[0]!.drillMembers).toEqual(['t.name', 't.at']);
});

test('a granularity has a title', () => {
  const model = cube(
    '',
    '\n      - { name: day, sql: made_at, type: time, granularities: [{ name: g, title: Sprint, interval: 2 weeks }] }',
  );
  const [shown] = metaOf(model, somebody);
  expect(shown!.dimensions.at(-1)!.granularities).toMatchObject([{ name: 'g', title: 'Sprint' }]);
});

test('a refresh key says how long answers are kept, and which query tells that they are old', () => {
  const model = cube('    refresh_key: { every: 1 hour 30 minutes, sql: select max(made_at) from t }');
  expect(model.cubes.get('t')!.refreshKey).toEqual({ everySeconds: 5400, sql: 'select max(made_at) from t' });
});

test('a hierarchy has a description and free data in the model, and can be hidden from clients', () => {
  const model = cube(
    '    hierarchies: [{ name: h, description: About it, meta: { a: 1 }, public: false, levels: [name] }]',
  );
  const about = { name: 'h', description: 'About it', meta: { a: 1 }, public: false };
  expect(model.cubes.get('t')!.hierarchies.get('h')).toMatchObject(about);
  expect(metaOf(model, somebody)[0]!.hierarchies).toEqual([]);
});

test('a member gets other free data in a view', () => {
  const model = cube(
    'views: [{ name: v, cubes: [{ join_path: t, includes: [{ name: name, meta: { b: 2 } }] }] }]',
  );
  expect(metaOf(model, somebody)[1]!.dimensions).toMatchObject([{ name: 'v.name', meta: { b: 2 } }]);
});

test('a policy opens all rows to a group, and only the members that it lists', async () => {
  const model = cube(
    '    access_policy: [{ group: sales, row_level: { allow_all: true }, member_level: { includes: [id, name], excludes: [name] } }]',
  );
  const seller = { ...somebody, groups: ['sales'] };
  const rows = (viewer: typeof somebody) =>
    engine.rows(planOf(model, { dimensions: ['t.id'] }, viewer).statement);
  expect(await rows(seller)).toHaveLength(4);
  expect(await rows(somebody)).toEqual([]);
  expect(metaOf(model, seller)[0]!.dimensions.map(({ name }) => name)).toEqual(['t.id']);
});

test('a measure filter keeps the rows that count for the measure', async () => {
  const model = cube(
    `    measures: [{ name: m, type: count, filters: [{ sql: "{CUBE}.amount > 10" }] }, { name: hidden, type: count, public: false }]`,
  );
  const query = (member: string) => ({
    dimensions: ['t.id'],
    filters: [{ member, operator: 'measureFilter' }],
  });
  expect((await rowsOf(model, query('t.m'))).map(([id]) => Number(id))).toEqual([2, 3]);
  expect(errorOf(model, query('t.name')).message).toContain('names a measure');
  expect(errorOf(model, query('t.hidden')).code).toBe('unknown_member');
});
