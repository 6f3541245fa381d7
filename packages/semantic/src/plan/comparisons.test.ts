/** What filters compare, and with which values. On engines they are in golden.test.ts and random.test.ts. */
import { expect, test } from 'vitest';
import { orders } from '../../test/marked.ts';
import { errorOf, modelOf, planOf } from '../../test/plans.ts';
import { mayOverflow, numberValue } from './comparisons.ts';
import { call, sql } from './sql.ts';

const model = modelOf(
  orders()
    .replace('primary_key: true', 'primary_key: true, public: true')
    .replace(
      '    measures:',
      '      - { name: month, sql: "{created_at.month}", type: time }\n    measures:',
    ),
);
const filtered = (member: string, operator: string, ...values: unknown[]) => ({
  measures: ['orders.count'],
  filters: [{ member: `orders.${member}`, operator, values }],
});

test.each<[string, string, unknown[], string]>([
  ['status', 'equals', [null], '("orders".status)::varchar is null'],
  ['status', 'notEquals', [null], '("orders".status)::varchar is not null'],
  ['id', 'equals', [null, 1], '("orders".id = $1::bigint or "orders".id is null)'],
  ['id', 'notEquals', [1], '("orders".id <> $1::bigint or "orders".id is null)'],
  ['id', 'notEquals', [1, null], '"orders".id <> $1::bigint'],
  ['id', 'gt', [1.5], '"orders".id > $1::decimal(2, 1)'],
  ['id', 'gt', ['9'.repeat(38)], '"orders".id > $1::hugeint'],
  ['id', 'gt', ['9'.repeat(39)], '"orders".id > $1::double'],
  ['id', 'gt', [`0.${'1'.repeat(18)}`], '"orders".id > $1::decimal(19, 18)'],
  ['id', 'gt', [`0.${'1'.repeat(19)}`], '"orders".id > $1::double'],
  ['id', 'gt', [`${'9'.repeat(37)}.5`], '"orders".id > $1::decimal(38, 1)'],
  ['id', 'gt', [`${'9'.repeat(38)}.5`], '"orders".id > $1::double'],
  // A call needs no brackets.
  [
    'month',
    'set',
    [],
    'date_trunc(\'month\', timezone($1::varchar, ("orders".created_at)::timestamptz)) is not null',
  ],
  [
    'created_at',
    'inDateRange',
    ['2024-02-01'],
    '("orders".created_at >= $1::timestamptz and "orders".created_at < $2::timestamptz)',
  ],
])('%s %s %j', (member, operator, values, where) => {
  const { sql } = planOf(model, filtered(member, operator, ...values)).statement;
  expect(/where (.*)/.exec(sql)![1]).toBe(where);
});

test.each<[string, string, unknown[]]>([
  ['id', 'gt', [null]],
  ['id', 'gt', [`1.${'0'.repeat(400)}`]],
  ['paid', 'gt', [true]],
  ['created_at', 'equals', ['soon']],
  ['created_at', 'inDateRange', ['soon']],
  ['created_at', 'inDateRange', ['2024-01-01', 5]],
  ['created_at', 'beforeDate', [null]],
])('%s %s %j does not fit', (member, operator, values) => {
  const { code, message } = errorOf(model, filtered(member, operator, ...values));
  expect([code, message]).toEqual(['invalid_query', expect.stringContaining('does not fit')]);
});

test('numbers that a column may not fit beside are found wherever they stand', () => {
  const [small, large] = ['1', '1e300'].map((text) => numberValue(text)!);
  for (const [number, isFound] of [
    [small!, false],
    [large!, true],
  ] as const) {
    expect(mayOverflow(sql`a > ${number}`)).toBe(isFound);
    expect(mayOverflow(sql`(${sql`a > ${number}`} or b)`)).toBe(isFound);
    expect(mayOverflow(sql`a > ${call('round', [number], ['0'])}`)).toBe(isFound);
  }
  expect(mayOverflow(true)).toBe(false);
});
