/** Measures that are made of others or of joined cubes: what they count, and which are refused. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, openDuckDb } from '../../test/engines.ts';
import { errorOf, modelOf, planOf } from '../../test/plans.ts';

const model = modelOf(`cubes:
  - name: people
    sql_table: people
    joins:
      - { name: items, relationship: one_to_many, sql: "{CUBE}.id = {items}.person_id" }
      - { name: teams, relationship: many_to_one, sql: "{CUBE}.team_id = {teams.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: name, sql: name, type: string }
      - { name: hired, sql: hired, type: time }
      - { name: item_count, sql: "{items.count}", type: number, sub_query: true }
      - { name: item_ids, sql: "{items.count} * {id}", type: number, sub_query: true }
      - { name: item_total, sql: "{items.total}", type: number, sub_query: true }
    measures:
      - { name: salaries, type: sum, sql: salary }
      - { name: high, type: number, sql: "{salaries}", filters: [{ sql: "{CUBE}.salary > 15" }] }
      - { name: item_sum, type: number, sql: "sum({items}.price)" }
      - { name: per_fourth, type: number, sql: "sum({CUBE}.salary) / (count(*) - 3)" }
      - { name: whole, type: max, sql: "{CUBE}" }
      - { name: twice, type: number, sql: "{item_sum} * 2" }
      - { name: first, type: min, sql: "{hired}" }
      - { name: last, type: max, sql: "{hired}" }
      - { name: last_name, type: max, sql: "{name}" }
      - { name: length, type: max, sql: "{name} || ''" }
      - { name: recent, type: sum, sql: salary, rolling_window: { trailing: 7 day } }
      - { name: of_joined, type: sum, sql: "{items.price}" }
      - { name: own_and_plain, type: number, sql: "sum({items}.price) / {salaries}" }
      - { name: own_and_other, type: number, sql: "sum({CUBE}.salary) / {items.count}" }
      - { name: own_and_rolling, type: number, sql: "sum({CUBE}.salary) / {recent}" }
      - { name: own_and_own, type: number, sql: "sum({CUBE}.salary) / {item_sum}" }
  - name: items
    sql_table: items
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: kind, sql: kind, type: string }
      - { name: price, sql: price, type: number }
      - { name: owner, sql: "{people.name}", type: string }
    measures:
      - { name: count, type: count }
      - { name: total, type: sum, sql: price }
  - name: teams
    sql_table: teams
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: color, sql: color, type: string }
views:
  - name: everything
    cubes:
      - { join_path: people, includes: [name] }
      - { join_path: people.items, includes: [kind, { name: count, alias: lines }] }
  - name: some
    cubes:
      - { join_path: people, includes: [item_sum] }
      - { join_path: people.items, includes: [kind] }
      - { join_path: people.teams, includes: [color] }
    access_policy:
      - group: "*"
        row_level:
          filters:
            - or:
                - { member: kind, operator: equals, values: [public] }
                - { member: color, operator: equals, values: [red] }
`);

let engine: Engine;
beforeAll(async () => {
  engine = await openDuckDb();
  for (const statement of [
    "create table people as select * from (values (1, 'Ada', 10, 1), (2, 'Bob', 20, 2), (3, 'Eve', 30, 2)) t(id, name, salary, team_id)",
    "create table items as select * from (values (1, 1, 100, 'public'), (2, 1, 1000, 'secret'), (4, 3, 5, 'public'), (5, 3, 5000, 'secret')) t(id, person_id, price, kind)",
    "create table teams as select * from (values (1, 'red'), (2, 'blue')) t(id, color)",
  ])
    await engine.run(statement);
});
afterAll(() => engine.close());

const rowsOf = (query: object) => engine.rows(planOf(model, query).statement);
const sqlOf = (query: object) => planOf(model, query).statement.sql;

test('the filter of a number applies to what it is made of, and not to the same measure beside it', async () => {
  expect(await rowsOf({ measures: ['people.salaries', 'people.high'] })).toEqual([['60', '50']]);
});

test('a number that aggregates columns itself divides nothing by zero', async () => {
  expect(await rowsOf({ measures: ['people.per_fourth'] })).toEqual([[null]]);
  expect(sqlOf({ measures: ['people.per_fourth'] })).toContain('nullif(');
});

test('the least and the largest value are of the type of their dimension, and of SQL they are numbers', () => {
  const measures = ['first', 'last', 'last_name', 'length', 'whole', 'salaries'].map(
    (name) => `people.${name}`,
  );
  const types = planOf(model, { measures }).columns.map(({ type }) => type);
  expect(types).toEqual(['time', 'time', 'string', 'number', 'number', 'number']);
});

test.each([
  ['of_joined', 'is computed from a joined cube that has several rows for each of its own'],
  ['own_and_plain', 'aggregates a cube that has several rows for each of its own'],
  ['own_and_other', 'it can only refer to plain measures of its own cube'],
  ['own_and_rolling', 'it can only refer to plain measures of its own cube'],
  ['own_and_own', 'it can only refer to plain measures of its own cube'],
])('%s is refused, because it %s', (name, message) => {
  const timeDimensions = [{ dimension: 'people.hired', dateRange: 'today' }];
  const { code, message: told } = errorOf(model, { measures: [`people.${name}`], timeDimensions });
  expect([code, told]).toEqual(['unsupported_query', expect.stringContaining(message)]);
});

test('a number that has no value in a row is refused by its own name', () => {
  const query = { dimensions: ['people.id'], measures: ['people.twice'], ungrouped: true };
  expect(errorOf(model, query).message).toContain('`people.item_sum` has no value for a single row');
});

test('rows of a view come from its root, also where a query names nothing of it', async () => {
  expect((await rowsOf({ dimensions: ['everything.kind'] })).flat()).toEqual(['public', 'secret', null]);
  const single = await rowsOf({ dimensions: ['everything.kind'], ungrouped: true });
  expect(single.flat().toSorted()).toEqual([null, 'public', 'public', 'secret', 'secret']);
  expect((await rowsOf({ dimensions: ['items.kind'] })).flat()).toEqual(['public', 'secret']);
});

test('a policy of a view about each row that is aggregated, and about a cube that repeats none of them', async () => {
  const query = { measures: ['some.item_sum'], dimensions: ['some.kind'], order: { 'some.kind': 'asc' } };
  expect(await rowsOf(query)).toEqual([
    ['public', '1105'],
    ['secret', '1100'],
  ]);
});

test('without rows, a count of a sub_query is zero, and a sum is nothing', async () => {
  const query = { dimensions: ['people.name', 'people.item_count', 'people.item_ids', 'people.item_total'] };
  expect(await rowsOf(query)).toEqual([
    ['Ada', '2', '2', '1100'],
    ['Bob', '0', '0', null],
    ['Eve', '2', '6', '5005'],
  ]);
});

test('a join that needs a cube which is joined after it is refused', () => {
  const cube = (name: string, to: string, dimension: string) => `  - name: ${name}
    sql_table: ${name}
    joins: [{ name: ${to}, relationship: many_to_one, sql: "{CUBE}.x = {${to}.far}" }]
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: far, sql: "${dimension}", type: number }
`;
  const far = modelOf(`cubes:\n${cube('a', 'b', 'x')}${cube('b', 'c', '{c.far}')}${cube('c', 'a', 'x')}`);
  const { code, message } = errorOf(far, { dimensions: ['a.id', 'b.id'] });
  expect([code, message]).toEqual(['unsupported_query', expect.stringContaining('joined only after it')]);
});

test('a measure that names a join path is counted along it, from the cube of the measure', () => {
  const cube = (name: string, joins: string[], measures: string) => `  - name: ${name}
    sql_table: ${name}
    joins: [${joins.map((to) => `{ name: ${to}, relationship: many_to_one, sql: "{CUBE}.x = {${to}}.y" }`).join(', ')}]
    dimensions: [{ name: id, sql: id, type: number, primary_key: true, public: true }]
    measures: [{ name: count, type: count }${measures}]
`;
  const twoWays = modelOf(
    `cubes:\n${cube('a', ['b', 'c'], ', { name: through, type: number, sql: "{b.d.count}" }')}${cube('b', ['d'], '')}${cube('c', ['d'], '')}${cube('d', [], '')}`,
  );
  const { sql } = planOf(twoWays, { measures: ['a.through'], dimensions: ['c.id'] }).statement;
  expect([...sql.matchAll(/(?:from|join) (\w+) as/g)].map(([, table]) => table)).toEqual([
    'd',
    'b',
    'a',
    'c',
  ]);
});

test('what nothing repeats is read once', () => {
  expect(sqlOf({ measures: ['people.item_sum'] })).not.toContain('distinct');
  expect(sqlOf({ dimensions: ['everything.name', 'everything.kind'] })).not.toContain('distinct');
  expect(sqlOf({ measures: ['people.salaries'], dimensions: ['items.owner'] })).not.toContain('people_2');
  expect(sqlOf({ measures: ['everything.lines'], dimensions: ['everything.name'] })).not.toContain('fact_2');
});

test('an error names the cubes that the query names, and not those of their measures', () => {
  const apart = modelOf(`cubes:
  - name: a
    sql_table: a
    joins:
      - { name: secret, relationship: one_to_many, sql: "{CUBE}.id = {secret}.a_id" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
    measures:
      - { name: ratio, type: number, sql: "{secret.count} / {secret.total}" }
  - name: secret
    public: false
    sql_table: secret
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
    measures:
      - { name: count, type: count }
      - { name: total, type: sum, sql: size }
  - name: z
    sql_table: z
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
    measures:
      - { name: count, type: count }
`);
  expect(errorOf(apart, { measures: ['a.ratio', 'z.count'] }).message).toBe('No joins lead from `a` to `z`.');
});
