import { expect, test } from 'vitest';
import {
  compileText,
  customers,
  type ExpectedProblem,
  expectError,
  JOIN,
  orders,
  withDimension,
  withMeasure,
  withSegment,
} from '../test/marked.ts';

test('a model with members of every kind is valid', () => {
  expect(compileText(orders(JOIN) + customers()).errors).toEqual([]);
});

const CUBE = 'cubes:\n  - name: a\n';

test.each<[string, string, ExpectedProblem]>([
  [
    'a key that does not exist',
    orders('    «sql_tabel: x\n'),
    { code: 'unknown_key', hint: 'Did you mean `sql_table`?' },
  ],
  ['a key like no other', orders('    «wibble: x\n'), { code: 'unknown_key', hint: /`joins`/ }],
  [
    'a key at the top that does not exist',
    `${orders()}«vews: []\n`,
    { code: 'unknown_key', hint: 'Did you mean `views`?' },
  ],
  [
    'a key of the wider language',
    orders('    «calendar: true\n'),
    { code: 'unsupported', message: /alendar/ },
  ],
  ['a missing name', 'cubes:\n  - «sql_table: a\n', { code: 'missing_key', message: /`name`/ }],
  [
    'a name with a space',
    'cubes:\n  - name: «my cube\n    sql_table: a\n',
    { code: 'bad_value', hint: /letters/ },
  ],
  ['a reserved name', 'cubes:\n  - name: «CUBE\n    sql_table: a\n', { code: 'bad_value' }],
  [
    'a very long name',
    `cubes:\n  - name: «${'a'.repeat(129)}\n    sql_table: a\n`,
    { code: 'bad_value', message: /128/ },
  ],
  ['no table', 'cubes:\n  - «name: a\n', { code: 'missing_key', message: /`sql_table` or `sql`/ }],
  [
    'a table and a query',
    `${CUBE.replace('name', '«name')}    sql_table: a\n    sql: select 1\n`,
    { code: 'missing_key' },
  ],
  ['a query as a table', `${CUBE}    sql_table: «select 1\n`, { code: 'bad_value', hint: /`sql`/ }],
  ['SQL behind a table', `${CUBE}    sql_table: «"a; drop table b"\n`, { code: 'bad_value' }],
  [
    'a reference in the query of a cube',
    `${CUBE}    sql: "select * from «{orders}"\n`,
    { code: 'not_allowed_here' },
  ],
  ['an empty query', `${CUBE}    sql: «" "\n`, { code: 'bad_value' }],
  [
    'dimensions as a map',
    `${CUBE}    sql_table: a\n    dimensions:\n      «id: { sql: id }\n`,
    { code: 'bad_value', hint: /`-`/ },
  ],
  ['two cubes of one name', `${orders()}  - name: «orders\n    sql_table: a\n`, { code: 'duplicate_name' }],
  [
    'two members of one name',
    withMeasure('{ name: «status, type: count }'),
    { code: 'duplicate_name', hint: /share/ },
  ],
  ['an empty policy', orders('    access_policy: «[]\n'), { code: 'bad_value', message: /empty/ }],
  ['public as a text', orders('    public: «"true"\n'), { code: 'bad_value', hint: /quotes/ }],
  ['public as yes', orders('    public: «yes\n'), { code: 'bad_value' }],
  ['meta as a list', orders('    meta: «[1]\n'), { code: 'bad_value' }],
  ['a title of a map', orders('    title: «{ a: 1 }\n'), { code: 'bad_value' }],
])('a cube is refused for %s', (_, text, expected) => {
  expectError(text, expected);
});

test.each(['orders', 'public.orders', 'a.b.c', '"My Table"', 'db."Weird $ name"', '`x`.y'])(
  '%s is the name of a table',
  (table) => {
    expect(compileText(`${CUBE}    sql_table: '${table}'\n`).errors).toEqual([]);
  },
);

test.each<[string, string, ExpectedProblem]>([
  ['no type', '{ «name: a, sql: a }', { code: 'missing_key', message: /`type`/ }],
  [
    'an unknown type',
    '{ name: a, sql: a, type: «numbr }',
    { code: 'bad_value', hint: 'Did you mean `number`?' },
  ],
  [
    'a type of SQL',
    '{ name: a, sql: a, type: «timestamp }',
    { code: 'bad_value', hint: 'Did you mean `time`?' },
  ],
  ['no value', '{ «name: a, type: string }', { code: 'missing_key', message: /`sql` or `case`/ }],
  [
    'a format that does not exist',
    '{ name: a, sql: a, type: number, format: «curency }',
    { code: 'bad_value', hint: /currency/ },
  ],
  [
    'granularities of a text',
    '{ name: a, sql: a, type: string, «granularities: [{ name: x, interval: 1 day }] }',
    { code: 'not_allowed_here' },
  ],
  [
    'an interval without a unit',
    '{ name: a, sql: a, type: time, granularities: [{ name: x, interval: «10 }] }',
    { code: 'bad_value', hint: /3 days/ },
  ],
  [
    'a granularity that exists',
    '{ name: a, sql: a, type: time, granularities: [{ name: x, interval: 1 month }, { name: «x, interval: 1 day }] }',
    { code: 'duplicate_name' },
  ],
  [
    'an offset and an origin',
    '{ name: a, sql: a, type: time, granularities: [«{ name: x, interval: 1 day, offset: 1 hour, origin: 2024-01-01 }] }',
    { code: 'not_allowed_here' },
  ],
  [
    'an origin that is no date',
    '{ name: a, sql: a, type: time, granularities: [{ name: x, interval: 1 day, origin: «2024-13-01 }] }',
    { code: 'bad_value' },
  ],
  [
    'an origin that is no day of its month',
    '{ name: a, sql: a, type: time, granularities: [{ name: x, interval: 1 day, origin: «2024-02-30 }] }',
    { code: 'bad_value' },
  ],
  [
    'a case without when',
    '{ name: a, type: string, case: «{ else: { label: x } } }',
    { code: 'missing_key', message: /`when`/ },
  ],
  [
    'a sub-query without a measure',
    '{ name: a, type: number, sql: "{status}", «sub_query: true }',
    { code: 'bad_value', message: /measure of another cube/ },
  ],
  [
    'a measure without sub_query',
    '{ name: a, type: number, sql: "«{total}" }',
    { code: 'not_allowed_here', message: /is a measure/ },
  ],
])('a dimension is refused for %s', (_, line, expected) => {
  expectError(withDimension(line).replace('- { «', '- «{ '), expected);
});

test.each<[string, string, ExpectedProblem]>([
  ['an unknown type', '{ name: a, type: «summ, sql: x }', { code: 'bad_value', hint: 'Did you mean `sum`?' }],
  ['no SQL', '{ «name: a, type: sum }', { code: 'missing_key', message: /`sum` needs `sql`/ }],
  [
    'a sum of a measure',
    '{ name: a, type: sum, sql: "«{total}" }',
    { code: 'not_allowed_here', message: /`sum`/ },
  ],
  [
    'a filter on a measure',
    '{ name: a, type: count, filters: [{ sql: "«{total} > 1" }] }',
    { code: 'not_allowed_here' },
  ],
  [
    'filters of a number without measures',
    '{ name: a, type: number, sql: "sum(x)", «filters: [{ sql: "{paid}" }] }',
    { code: 'not_allowed_here' },
  ],
  [
    'a window without edges',
    '{ name: a, type: count, rolling_window: «{ offset: start } }',
    { code: 'missing_key' },
  ],
  [
    'a window of a number',
    '{ name: a, type: number, sql: "{total}", «rolling_window: { trailing: 1 day } }',
    { code: 'not_allowed_here' },
  ],
  [
    'a negative window',
    '{ name: a, type: count, rolling_window: { trailing: «-1 day } }',
    { code: 'bad_value' },
  ],
  [
    'a drill member that does not exist',
    '{ name: a, type: count, drill_members: [«stats] }',
    { code: 'unknown_name', hint: 'Did you mean `status`?' },
  ],
  [
    'a segment as a drill member',
    '{ name: a, type: count, drill_members: [«open] }',
    { code: 'not_allowed_here' },
  ],
  [
    'several stages',
    '{ name: a, type: number, sql: "{total}", «multi_stage: true }',
    { code: 'unsupported' },
  ],
])('a measure is refused for %s', (_, line, expected) => {
  expectError(withMeasure(line).replace('- { «', '- «{ '), expected);
});

test.each<[string, string, ExpectedProblem]>([
  ['a segment of a measure', withSegment('{ name: a, sql: "«{total} > 1" }'), { code: 'not_allowed_here' }],
  ['a segment without SQL', withSegment('«{ name: a }'), { code: 'missing_key' }],
  ['a level that does not exist', orders().replace('[status, id]', '[«stats, id]'), { code: 'unknown_name' }],
  ['a level that is a measure', orders().replace('[status, id]', '[«total]'), { code: 'not_allowed_here' }],
  ['a hierarchy without levels', orders().replace('[status, id]', '«[]'), { code: 'bad_value' }],
])('%s is refused', (_, text, expected) => {
  expectError(text, expected);
});

const joining = (join: string) => orders(`    joins:\n      - ${join}\n`) + customers();

test.each<[string, string, ExpectedProblem]>([
  [
    'to a cube that does not exist',
    joining('{ name: «customer, relationship: many_to_one, sql: "{CUBE}.a = 1" }'),
    { code: 'unknown_name', hint: 'Did you mean `customers`?' },
  ],
  [
    'to itself',
    joining('{ name: «orders, relationship: many_to_one, sql: "{CUBE}.a = 1" }'),
    { code: 'not_allowed_here' },
  ],
  [
    'with a word that is nearly right',
    joining('{ name: customers, relationship: «many_to_oen, sql: "{CUBE}.a = {customers}.b" }'),
    { code: 'bad_value', hint: 'Did you mean `many_to_one`?' },
  ],
  [
    'without a relationship',
    joining('«{ name: customers, sql: "{CUBE}.a = {customers}.b" }'),
    { code: 'missing_key' },
  ],
  [
    'whose condition names one cube',
    joining('{ name: customers, relationship: many_to_one, «sql: "{CUBE}.a = 1" }'),
    { code: 'bad_value', message: /both cubes/ },
  ],
  [
    'whose condition has a measure',
    joining(
      '{ name: customers, relationship: many_to_one, sql: "«{total} = {customers.id} and {CUBE}.a = 1" }',
    ),
    { code: 'not_allowed_here' },
  ],
  [
    'twice',
    joining(
      '{ name: customers, relationship: many_to_one, sql: "{CUBE}.a = {customers.id}" }\n      - { name: «customers, relationship: one_to_one, sql: "{CUBE}.b = {customers.id}" }',
    ),
    { code: 'duplicate_name' },
  ],
  [
    'to another data source',
    joining('{ «name: customers, relationship: many_to_one, sql: "{CUBE}.a = {customers.id}" }').replace(
      'sql_table: customers',
      'sql_table: customers\n    data_source: other',
    ),
    { code: 'not_allowed_here', message: /data source/ },
  ],
])('a join is refused %s', (_, text, expected) => {
  expectError(text, expected);
});

test('a cube with measures whose rows a join repeats needs a primary key', () => {
  const text =
    orders(JOIN) +
    customers().replace(', primary_key: true', '').replace('- name: customers', '- name: «customers');
  expectError(text, { code: 'no_primary_key', hint: /primary_key: true/ });
});

test('a sub-query needs a primary key', () => {
  const text = `cubes:
  - name: customers
    sql_table: customers
    joins:
      - { name: orders, relationship: one_to_many, sql: "{CUBE}.id = {orders.id}" }
    dimensions:
      - { name: orders_count, sql: "{orders.count}", type: number, «sub_query: true }
${orders().replace('cubes:\n', '')}`;
  expectError(text, { code: 'no_primary_key' });
});
