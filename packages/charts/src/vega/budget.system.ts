/** Charts whose parts are each within bounds, and too much together. Each is refused while it is drawn. */
import { afterEach, expect, test } from 'vitest';
import { problemOf } from '../../test/problem-of.ts';
import { createDrawingBudget, LIMITS } from './budget.ts';

const { work } = LIMITS;
afterEach(() => {
  LIMITS.work = work;
});

const rowsOf = (count: number) => ({
  name: 'rows',
  values: Array.from({ length: count }, (_, i) => ({ a: i, b: Math.sin(i), text: `name ${i}`, c: i % 12 })),
});
const transform = (count: number, ...given: object[]) => ({ data: [{ ...rowsOf(count), transform: given }] });
const perRow = (expr: string, count = 50_000) => transform(count, { type: 'formula', as: 'made', expr });
/** Lists of ten of the list before. */
const nested = (depth: number) => [
  { name: 'list0', update: '[1,2,3,4,5,6,7,8,9,10]' },
  ...Array.from({ length: depth }, (_, i) => ({
    name: `list${i + 1}`,
    update: `[${Array(10).fill(`list${i}`).join()}]`,
  })),
];
const doubled = [
  { name: 'text0', update: "pad('x', 10000)" },
  ...Array.from({ length: 20 }, (_, i) => ({ name: `text${i + 1}`, update: `text${i} + text${i}` })),
];
const scales = [
  { name: 'x', type: 'linear', range: 'width', domain: { data: 'rows', field: 'a' } },
  { name: 'y', type: 'linear', range: 'height', domain: { data: 'rows', field: 'b' } },
];
/** A small chart with axes for each value of a field. */
const facets = (count: number) => ({
  data: [rowsOf(count)],
  layout: { columns: 10 },
  marks: [
    {
      type: 'group',
      from: { facet: { name: 'cell', data: 'rows', groupby: ['text'] } },
      scales: scales.map((scale) => ({
        ...scale,
        range: [0, 100],
        domain: { ...scale.domain, data: 'cell' },
      })),
      axes: [
        { scale: 'x', orient: 'bottom' },
        { scale: 'y', orient: 'left' },
      ],
      marks: [
        { type: 'symbol', from: { data: 'cell' }, encode: { update: { x: { scale: 'x', field: 'a' } } } },
      ],
    },
  ],
});
const lists = (count: number, ...given: object[]) => ({
  signals: [{ name: 'list', update: 'sequence(5000)' }],
  ...transform(count, { type: 'formula', as: 'list', expr: 'list' }, ...given),
});
const texts = (count: number, text: object, more: object = {}) => ({
  data: [rowsOf(count)],
  marks: [{ type: 'text', from: { data: 'rows' }, encode: { update: { text, ...more } } }],
});
const window = (count: number, op: string, more: object = {}) =>
  transform(count, { type: 'window', ops: [op], fields: ['b'], as: ['made'], sort: { field: 'a' }, ...more });

test.each<[string, string, object]>([
  ['a list for each row', 'values', perRow('length(sequence(10000))')],
  ['a text for each row', 'characters', perRow("pad('x', 10000)")],
  ['long texts that are joined', 'characters', perRow("length(join(sequence(1000), pad('x', 10000)))")],
  [
    'texts that are replaced by long ones',
    'characters',
    perRow("length(replace(pad('', 900, 'a'), /a/g, pad('x', 9000)))"),
  ],
  // Of the next three, what is made alone would not be too much: it is counted before, too.
  [
    'texts that are replaced by what stands before them',
    'characters',
    perRow("length(replace(pad('', 9999, 'a'), /a/g, '$`'))", 1),
  ],
  ['long texts between values', 'characters', perRow("length(join(sequence(7000), [pad('x', 7000)]))", 1)],
  ['texts that are filled with long ones', 'characters', perRow("length(pad('x', 7000, pad('x', 7000)))", 1)],
  ['lines of texts', 'lines', { ...texts(200, { signal: 'list' }), signals: lists(1).signals }],
  [
    'lines that a break makes',
    'lines',
    texts(200, { signal: "pad('x', 5000)" }, { lineBreak: { value: ' ' } }),
  ],
  [
    'a search of all rows for each',
    'values',
    {
      data: [
        rowsOf(50_000),
        {
          name: 'made',
          source: 'rows',
          transform: [{ type: 'formula', as: 'at', expr: "indexof(pluck(data('rows'), 'a'), -1)" }],
        },
      ],
    },
  ],
  ['lists of lists as a text', 'values', { signals: [...nested(8), { name: 'made', update: "list8 + ''" }] }],
  ['lists of lists that are compared', 'values', { ...perRow("list4 == 'x' ? 1 : 2"), signals: nested(4) }],
  ['lists of lists as a name', 'values', { ...perRow('datum[list4]'), signals: nested(4) }],
  [
    'objects of lists that are merged',
    'values',
    { signals: [...nested(8), { name: 'made', update: 'merge({ a: { b: list8 } })' }] },
  ],
  ['a text that grows by itself', 'characters', { signals: doubled }],
  [
    'texts beside one of a length below nothing',
    'characters',
    perRow("length(pad('x', 9000)) + length(pad('x', -1e9))"),
  ],
  ['many steps', 'steps', perRow(Array(900).fill('datum.a').join('+'))],
  ['small charts', 'groups', facets(3000)],
  [
    'slow searches',
    'steps',
    { ...perRow('test(/a*b/, text) ? 1 : 2'), signals: [{ name: 'text', update: "pad('', 9999, 'a')" }] },
  ],
  [
    'curves in many steps',
    'steps',
    {
      data: [
        rowsOf(50_000),
        ...Array.from({ length: 30 }, (_, i) => ({
          name: `curve${i}`,
          source: 'rows',
          transform: [{ type: 'kde', field: 'b', steps: 1000 }],
        })),
      ],
    },
  ],
  [
    'curves of many groups',
    'rows',
    transform(50_000, { type: 'kde', field: 'b', groupby: ['a'], steps: 1000 }),
  ],
  [
    'quantiles of many groups',
    'rows',
    transform(50_000, { type: 'quantile', field: 'b', groupby: ['a'], step: 0.0001 }),
  ],
  [
    'groups by many fields',
    'rows',
    transform(50_000, { type: 'joinaggregate', ops: ['sum'], fields: ['b'], groupby: Array(3000).fill('a') }),
  ],
  [
    'long paths',
    'steps',
    {
      data: [rowsOf(50_000)],
      marks: [
        {
          type: 'symbol',
          from: { data: 'rows' },
          encode: { update: { shape: { value: `M0,0${'L1,1'.repeat(4000)}` } } },
        },
      ],
    },
  ],
  ['medians of all rows before', 'values', window(30_000, 'median')],
  ['medians of half of the rows', 'values', window(14_000, 'median', { frame: [-7000, 7000] })],
  [
    'many values of each frame',
    'values',
    transform(5000, {
      type: 'window',
      ...{ ops: Array(100).fill('distinct'), fields: Array(100).fill('b'), frame: [-1000, 0] },
      as: Array.from({ length: 100 }, (_, i) => `made${i}`),
    }),
  ],
  [
    'a column for each row, whatever the limit',
    'columns',
    transform(10_000, { type: 'pivot', field: 'a', value: 'b', groupby: ['c'], limit: -1 }),
  ],
  [
    'columns of many groups',
    'columns',
    transform(3000, { type: 'pivot', field: 'a', value: 'b', groupby: ['text'] }),
  ],
  [
    'curves of high order',
    'groups',
    transform(5000, { type: 'regression', method: 'poly', order: 5, x: 'a', y: 'b', groupby: ['text'] }),
  ],
  [
    'rows of many columns',
    'columns',
    transform(
      300,
      {
        type: 'window',
        ops: Array(1000).fill('row_number'),
        as: Array.from({ length: 1000 }, (_, i) => `made${i}`),
      },
      { type: 'fold', fields: Array(1000).fill('a') },
    ),
  ],
  ['steps between times', 'steps', perRow("utcOffset('quarter', datum.a, 1000)", 20_000)],
  [
    'rounded times in long steps',
    'steps',
    transform(20_000, {
      type: 'timeunit',
      field: 'a',
      units: ['year', 'quarter'],
      step: 1000,
      timezone: 'utc',
    }),
  ],
  ['times without a format', 'steps', perRow('length(timeFormat(datum.a))', 20_000)],
  ['formats', 'steps', perRow(Array(30).fill("format(datum.a, '.2f')").join('+'), 20_000)],
  [
    'searches for long texts',
    'steps',
    perRow("lastindexof(pad('', 10000, 'x') + pad('', 10000, 'x'), pad('', 10000, 'x') + 'y')", 10),
  ],
  [
    'values of all rows that are equal',
    'values',
    window(20_000, 'distinct', { frame: [0, 0], sort: { field: 'same' } }),
  ],
  [
    'samples of all rows that are equal',
    'values',
    window(2000, 'ci0', { frame: [0, 0], sort: { field: 'same' } }),
  ],
  [
    'lists that rows are grouped by',
    'values',
    lists(1000, ...Array(20).fill({ type: 'joinaggregate', ops: ['sum'], fields: ['b'], groupby: ['list'] })),
  ],
  ['lists that rows are sorted by', 'values', lists(1000, { type: 'collect', sort: { field: 'list' } })],
  [
    'groups of all values of several fields',
    'groups',
    transform(120, { type: 'aggregate', cross: true, groupby: ['a', 'b', 'text'] }),
  ],
  ['least values of a moving frame', 'values', window(50_000, 'min', { frame: [-10_000, 0] })],
  [
    'a column for each row',
    'columns',
    transform(30_000, { type: 'pivot', field: 'a', value: 'b', groupby: ['c'] }),
  ],
  ['all pairs of rows', 'rows', transform(5000, { type: 'cross' })],
  [
    'a long sequence',
    'rows',
    { data: [{ name: 'made', transform: [{ type: 'sequence', start: 0, stop: 1e9 }] }] },
  ],
  [
    'many transforms',
    'rows',
    transform(
      50_000,
      ...Array.from({ length: 1500 }, (_, i) => ({
        type: 'joinaggregate',
        ops: ['sum'],
        fields: ['b'],
        as: [`made${i}`],
      })),
    ),
  ],
])('%s: too many %s together are refused', async (_name, what, spec) => {
  // All of it would take ten times as long, and is counted in the same way.
  LIMITS.work = work / 10;
  expect(await problemOf({ width: 100, height: 100, ...spec })).toBe(`The chart asks for too many ${what}.`);
});

test('a budget is not renewed while a drawing runs', () => {
  LIMITS.work = 10;
  const budget = createDrawingBudget();
  const end = budget.begin();
  budget.spend(8, 'steps');
  budget.renew();
  expect(() => budget.spend(8, 'steps')).toThrow('too many steps');
  end();
  budget.renew();
  budget.spend(8, 'steps');
});

const symbols = {
  type: 'symbol',
  from: { data: 'rows' },
  encode: {
    update: {
      x: { scale: 'x', field: 'a' },
      y: { scale: 'y', field: 'b' },
      fill: { signal: "datum.b > 0 ? 'green' : 'red'" },
      description: {
        signal: "'A: ' + format(datum.a, ',') + '; B: ' + format(datum.b, '.2f') + '; ' + datum.text",
      },
    },
  },
};
const axes = [
  { scale: 'x', orient: 'bottom' },
  { scale: 'y', orient: 'left' },
];

test.each<[string, object[]]>([
  [
    'texts with marked words',
    [{ type: 'formula', as: 'made', expr: "replace(datum.text + pad('', 200), /(na)me/g, '<$1>')" }],
  ],
  [
    'made texts',
    [{ type: 'formula', as: 'made', expr: "upper(replace(datum.text, /(na)me/, '$1')) + ' ' + datum.a" }],
  ],
  ['the most so far', [{ type: 'window', ops: ['max'], fields: ['b'], as: ['made'] }]],
  ['a moving median', [{ type: 'window', ops: ['median'], fields: ['b'], as: ['made'], frame: [-7, 7] }]],
  [
    'a moving median in order',
    [
      {
        type: 'window',
        ops: ['median'],
        fields: ['b'],
        as: ['made'],
        frame: [-7, 7],
        sort: { field: 'text' },
      },
    ],
  ],
])('50,000 rows with %s are drawn', async (_name, transforms) => {
  const data = [{ ...rowsOf(50_000), transform: transforms }];
  expect(await problemOf({ width: 400, height: 200, data, scales, axes, marks: [symbols] })).toBeUndefined();
});

test('50,000 rows in three layers are drawn', async () => {
  const marks = [symbols, symbols, symbols];
  expect(
    await problemOf({ width: 400, height: 200, data: [rowsOf(50_000)], scales, axes, marks }),
  ).toBeUndefined();
});

test('50,000 texts are drawn', async () => {
  expect(await problemOf({ width: 100, height: 100, ...texts(50_000, { field: 'text' }) })).toBeUndefined();
});

test('a hundred small charts are drawn', async () => {
  expect(await problemOf(facets(100))).toBeUndefined();
});
