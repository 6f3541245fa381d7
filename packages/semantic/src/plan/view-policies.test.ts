/** The policies of a view apply to every row that is aggregated, wherever the SQL of a measure or dimension reads it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, openDuckDb } from '../../test/engines.ts';
import { errorOf, modelOf, planOf } from '../../test/plans.ts';

const view = (name: string, filter: string) => `  - name: ${name}
    cubes:
      - { join_path: people, includes: [id, item_sum, items_total, deep, salary_sum] }
      - { join_path: people.items, includes: [kind, rows, { name: line_sum, alias: line_sum }] }
      - { join_path: people.tags, includes: [tag] }
    access_policy: [{ group: "*", row_level: { filters: [${filter}] } }]
`;
const PUBLIC = '{ member: kind, operator: equals, values: [public] }';
const TAGGED = '{ member: tag, operator: equals, values: [t1] }';
const model = modelOf(`cubes:
  - name: people
    sql_table: people
    joins:
      - { name: items, relationship: one_to_many, sql: "{CUBE}.id = {items}.person_id" }
      - { name: tags, relationship: one_to_many, sql: "{CUBE}.id = {tags}.person_id" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: items_total, sql: "{items.total}", type: number, sub_query: true }
      - { name: deep, sql: "{items.lines_total}", type: number, sub_query: true }
    measures:
      - { name: item_sum, type: number, sql: "sum({items}.price)" }
      - { name: salary_sum, type: number, sql: "sum({CUBE}.salary)" }
  - name: items
    sql_table: items
    joins:
      - { name: lines, relationship: one_to_many, sql: "{CUBE}.id = {lines}.item_id" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: kind, sql: kind, type: string }
      - { name: in_lines, sql: "{lines.amount}", type: number, sub_query: true }
    measures:
      - { name: total, type: sum, sql: price }
      - { name: lines_total, type: sum, sql: "{in_lines}" }
      - { name: line_sum, type: number, sql: "sum({lines}.amount)" }
      - { name: rows, type: number, sql: "count(*)" }
  - name: lines
    sql_table: lines
    dimensions: [{ name: id, sql: id, type: number, primary_key: true }]
    measures: [{ name: amount, type: sum, sql: amount }]
  - name: tags
    sql_table: tags
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: tag, sql: tag, type: string }
views:
${view('everything', '{ member: id, operator: set }')}${view('open_items', PUBLIC)}${view('tagged', TAGGED)}${view('both', `{ or: [${PUBLIC}, ${TAGGED}] }`)}${view('counted', '{ member: items_total, operator: gt, values: [1000] }')}`);

let engine: Engine;
beforeAll(async () => {
  engine = await openDuckDb();
  for (const statement of [
    'create table people as select * from (values (1, 10), (2, 20), (3, 30)) t(id, salary)',
    `create table items as select * from (values (1, 1, 100, 'public'), (2, 1, 1000, 'secret'), (4, 3, 5, 'public'), (5, 3, 5000, 'secret')) t(id, person_id, price, kind)`,
    'create table lines as select * from (values (1, 1, 1), (2, 1, 2), (3, 2, 40), (4, 4, 4)) t(id, item_id, amount)',
    `create table tags as select * from (values (1, 1, 't1'), (2, 1, 't1'), (3, 2, 't2'), (4, 3, 't3')) t(id, person_id, tag)`,
  ])
    await engine.run(statement);
});
afterAll(() => engine.close());

const rowsOf = async (query: object) => await engine.rows(planOf(model, query).statement);
const SET = { operator: 'set' };

test('a number that aggregates a joined cube reads only its rows that the policy opens', async () => {
  const measures = ['open_items.item_sum'];
  expect(await rowsOf({ measures })).toEqual([['105']]);
  expect(await rowsOf({ measures, dimensions: ['open_items.kind'] })).toEqual([['public', '105']]);
  for (const member of ['open_items.kind', 'open_items.tag'])
    expect(await rowsOf({ measures, filters: [{ member, ...SET }] })).toEqual([['105']]);
  expect(await rowsOf({ measures, dimensions: ['open_items.tag'] })).toEqual([
    ['t1', '100'],
    ['t3', '5'],
  ]);
});

test('so does one of a cube that is not the root of the view', async () => {
  const measures = ['open_items.line_sum'];
  expect(await rowsOf({ measures })).toEqual([['7']]);
  expect(await rowsOf({ measures, dimensions: ['open_items.tag'] })).toEqual([
    ['t3', '4'],
    ['t1', '3'],
  ]);
});

test('a number that counts rows counts those of its own cube, and not that there is none', async () => {
  // The second person has no items.
  expect(await rowsOf({ measures: ['everything.rows'] })).toEqual([['4']]);
  const query = { measures: ['everything.rows'], dimensions: ['everything.id'] };
  expect((await rowsOf(query)).toSorted()).toEqual([
    ['1', '2'],
    ['2', null],
    ['3', '2'],
  ]);
});

test('a policy about other rows decides which rows of the cube count, and repeats nothing', async () => {
  const measures = ['tagged.item_sum', 'tagged.salary_sum'];
  expect(await rowsOf({ measures })).toEqual([['1100', '10']]);
  expect(await rowsOf({ measures, dimensions: ['tagged.tag'] })).toEqual([['t1', '1100', '10']]);
});

test('a policy about both, whose rows would be repeated, is refused', () => {
  const { code, message } = errorOf(model, { measures: ['both.item_sum'] });
  expect(code).toBe('unsupported_query');
  expect(message).toContain('a policy of the view needs another one');
});

test('a sub_query dimension aggregates only rows that the policy opens', async () => {
  const totals = (name: string) =>
    rowsOf({ dimensions: ['id', 'items_total', 'deep'].map((dimension) => `${name}.${dimension}`) });
  expect(await totals('open_items')).toEqual([
    ['1', '100', '3'],
    ['3', '5', '4'],
  ]);
  expect(await totals('tagged')).toEqual([['1', '1100', '43']]);
});

test('a policy that compares a sub_query dimension decides by all rows', async () => {
  expect(await rowsOf({ dimensions: ['counted.id', 'counted.items_total'] })).toEqual([
    ['1', '1100'],
    ['3', '5005'],
  ]);
});
