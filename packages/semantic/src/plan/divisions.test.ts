import { expect, test } from 'vitest';
import { createPlanBudget } from './budget.ts';
import { postgres } from './dialects/postgres.ts';
import { guardDivisions } from './divisions.ts';
import { renderStatement } from './render.ts';
import { sql } from './sql.ts';

const [a, b] = [sql`A`, sql`B`];
const written = (parts: Parameters<typeof guardDivisions>[0]) =>
  renderStatement(
    {
      columns: [{ name: 'x', sql: guardDivisions(parts, postgres) }],
      from: { alias: 't', of: { table: 't' } },
    },
    postgres,
    createPlanBudget(),
  )
    .sql.split('\n')[1]!
    .trim()
    .replace(/ as "x"$/, '')
    .replace(/ +/g, ' ');

test.each<[string, Parameters<typeof guardDivisions>[0], string]>([
  ['a measure', [a, ' / ', b], 'A / nullif((B)::numeric, 0)'],
  ['what is in brackets', [a, '/ (', b, ' + 1)'], 'A / nullif(((B + 1))::numeric, 0)'],
  ['a call', [a, ' / greatest(', b, ', 0) * 2'], 'A / nullif((greatest(B, 0))::numeric, 0) * 2'],
  ['a cast', [a, ' / ', b, '::numeric(10, 2) - 1'], 'A / nullif((B::numeric(10, 2))::numeric, 0) - 1'],
  ['a number with a sign', [a, ' / -2.5'], 'A / nullif((-2.5)::numeric, 0)'],
  [
    'a division in a division',
    [a, ' / (', a, ' / ', b, ')'],
    'A / nullif(((A / nullif((B)::numeric, 0)))::numeric, 0)',
  ],
  ['a text in quotes', ["case when x = 'a/b' then ", a, ' end'], "case when x = 'a/b' then A end"],
  ['a text in dollars', [a, ' / $$a / b$$'], 'A / nullif(($$a / b$$)::numeric, 0)'],
  [
    'a text with a backslash',
    ["case when x = E'a\\' / b' then ", a, ' end / ', b],
    "case when x = E'a\\' / b' then A end / nullif((B)::numeric, 0)",
  ],
  ['what an operator follows', [a, ' / ', b, '    is null'], 'A / nullif((B)::numeric, 0) is null'],
  ['nothing', [a, ' / '], 'A / '],
  ['nothing in brackets', ['(', a, ' / )'], '(A / )'],
  ['brackets that do not fit', [a, ') / ', b], 'A) / nullif((B)::numeric, 0)'],
])('a division by %s is null if that is zero', (_, parts, expected) => {
  expect(written(parts)).toBe(expected);
});

test('SQL without a division may be nested as deep as databases allow', () => {
  const deep = ['('.repeat(250), a, ')'.repeat(250)];
  expect(written(deep)).toBe(`${deep[0]}A${deep[2]}`);
  expect(() => written([...deep, ' / ', b])).toThrow('nested more than 200 deep');
});
