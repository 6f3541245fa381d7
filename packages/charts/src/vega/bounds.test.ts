/** Charts that ask for too much, by Vega itself. */
import { expect, test } from 'vitest';
import { problemOf } from '../../test/problem-of.ts';

const expression = (update: string) => ({ signals: [{ name: 'a', update }] });
const rows = {
  name: 'rows',
  values: [
    { a: 1, t: 0 },
    { a: 9, t: 3.2e10 },
  ],
};
const many = { name: 'rows', values: Array.from({ length: 1001 }, () => ({ a: 1 })) };
const transform = (given: object) => ({ data: [{ ...rows, transform: [given] }] });
const axis = (type: string, field: string, given: object, more: object = {}) => ({
  width: 100,
  data: [rows],
  scales: [{ name: 'x', type, range: 'width', domain: { data: 'rows', field }, ...more }],
  axes: [{ scale: 'x', orient: 'bottom', ...given }],
});

/** So many that each has as many members makes too many. */
const large = { name: 'rows', values: Array.from({ length: 2001 }, (_, a) => ({ a })) };
const long = { name: 'rows', values: large.values.map((row) => ({ ...row, list: large.values })) };

test.each<[string, object]>([
  ['a sequence', expression('sequence(1e9)')],
  ['a sequence in small steps', expression('sequence(0, 1, 1e-9)')],
  ['a sequence of times', expression("timeSequence('seconds', 0, 1e12)")],
  ['a sequence of times in UTC', expression("utcSequence('milliseconds', 0, 1e12, 2)")],
  ['a padded text', expression("pad('x', 1e9)")],
  ['a wide number', expression("format(1, '1000000000d')")],
  ['a text of each row', transform({ type: 'formula', as: 'b', expr: "pad('x', 1e9)" })],
  ['bins', transform({ type: 'bin', field: 'a', extent: [0, 9], maxbins: 1e9 })],
  ['bins that get narrower forever', transform({ type: 'bin', field: 'a', extent: [0, 9], base: 0.5 })],
  ['a curve', transform({ type: 'kde', field: 'a', steps: 1e9 })],
  ['quantiles', transform({ type: 'quantile', field: 'a', step: 1e-9 })],
  ['folded rows', { data: [{ ...many, transform: [{ type: 'fold', fields: many.values.map(() => 'a') }] }] }],
  ['flattened rows', { data: [{ ...long, transform: [{ type: 'flatten', fields: ['list'] }] }] }],
  [
    'rows for each group',
    { data: [{ ...large, transform: [{ type: 'impute', field: 'b', key: 'a', groupby: ['a'] }] }] },
  ],
  ['ticks of large powers', axis('log', 'a', {}, { base: 1e9 })],
  ['powers of a curve', transform({ type: 'regression', x: 'a', y: 't', method: 'poly', order: 1000 })],
  ['ticks', axis('linear', 'a', { tickCount: 1e9 })],
  ['ticks of times', axis('utc', 't', { tickCount: 'millisecond' })],
  ['ticks of times in steps', axis('utc', 't', { tickCount: { interval: 'second', step: 2 } })],
  ['ticks of weeks in long steps', axis('utc', 't', { tickCount: { interval: 'week', step: 1e9 } })],
  ['a domain of weeks in long steps', axis('utc', 't', {}, { nice: { interval: 'week', step: 1e9 } })],
  [
    'times that are rounded to long steps',
    transform({ type: 'timeunit', field: 't', units: ['year', 'quarter'], step: 1e9, timezone: 'utc' }),
  ],
  ['a time after long steps', expression("timeOffset('quarter', 0, 1e9)")],
  ['times in long steps', expression("timeSequence('quarter', 0, 1e13, 1e9)")],
  ['colours', { ...axis('linear', 'a', {}), ...expression("gradient('x', [0, 0], [1, 1], 2e7)") }],
  ['columns', { data: [rows], layout: { columns: 4e8 }, marks: [{ type: 'group', from: { data: 'rows' } }] }],
  [
    'columns of a legend',
    {
      data: [rows],
      scales: [{ name: 'size', type: 'linear', range: [0, 100], domain: { data: 'rows', field: 'a' } }],
      legends: [{ size: 'size', columns: 1e9 }],
    },
  ],
  ['wide labels', axis('linear', 'a', { format: '1000000000d' })],
  ['bins of a scale', axis('linear', 'a', {}, { bins: { step: 1e-9 } })],
  ['a list that says how long it is', expression('extent({ length: 1e15 })')],
  ['a time near the end of all times', expression("timeOffset('quarter', 8.64e15, 1)")],
  ['times near the end of all times', expression("utcSequence('quarter', 8.63e15, 8.65e15)")],
  [
    'times near the end of all times that are rounded',
    {
      data: [
        {
          name: 'end',
          values: [{ t: 8.64e15 }],
          transform: [{ type: 'timeunit', field: 't', units: ['year', 'quarter'], timezone: 'utc' }],
        },
      ],
    },
  ],
  [
    'a domain near the end of all times',
    {
      data: [rows],
      scales: [
        {
          name: 'x',
          type: 'utc',
          range: 'width',
          domain: [8.63e15, 8.64e15],
          nice: { interval: 'month', step: 3 },
        },
      ],
    },
  ],
  ['bins of a range that is too narrow', transform({ type: 'bin', field: 'a', extent: [0, 5e-324] })],
  [
    'bins by a list that says how long it is',
    transform({ type: 'bin', field: 'a', extent: [0, 9], divide: { signal: '{ length: 1e15 }' } }),
  ],
  ['more than all rows for a smooth curve', transform({ type: 'loess', x: 'a', y: 't', bandwidth: 1e6 })],
  [
    'a domain that says how long it is',
    {
      data: [rows],
      signals: [{ name: 'd', update: '{ length: 4e8 }' }],
      scales: [
        { name: 'x', type: 'linear', range: 'width', domain: { signal: 'd' }, zero: false, nice: false },
      ],
    },
  ],
  [
    'parts of a column',
    { data: [rows], layout: { columns: 1e-9 }, marks: [{ type: 'group', from: { data: 'rows' } }] },
  ],
  ['a pattern with a choice of beginnings', expression("test(/^y|x*x*z/, pad('', 9999, 'x'))")],
  ['a pattern for each line', expression("test(/^\\n*\\n*x/m, pad('', 9999, '\\n'))")],
  ['a pattern that looks for what it found', expression("test(/(x*)\\1z/, pad('', 9999, 'x'))")],
  ['a pattern with a long repetition', expression("test(/x*x{900}z/, pad('', 9999, 'x'))")],
  [
    'powers of a curve as a text',
    transform({ type: 'regression', x: 'a', y: 't', method: 'poly', order: { signal: "'10'" } }),
  ],
])('%s: too much is refused at once', async (_name, spec) => {
  expect(await problemOf(spec)).toMatch(
    /too many|more than 1|too far away|too narrow|1 or less|must be a number|so slow a pattern|as a list/,
  );
});

test('a row may have a field that is called length', async () => {
  const values = [{ length: 6.6e9 }, { length: 6.4e9 }];
  const transforms = [
    { type: 'formula', as: 'long', expr: 'isValid(datum) && length(toString(datum.length)) > 5' },
  ];
  expect(await problemOf({ data: [{ name: 'rows', values, transform: transforms }] })).toBeUndefined();
});

test.each<[string, object]>([
  ['sequences', expression("sequence(10000).length + timeSequence('month', 0, 1e12).length")],
  ['texts', expression("pad('x', 20) + format(1234.5, '012,.2f')")],
  ['transforms', transform({ type: 'bin', field: 'a', extent: [0, 9], maxbins: 100 })],
  ['curves', transform({ type: 'regression', x: 'a', y: 't' })],
  ['smooth curves', transform({ type: 'loess', x: 'a', y: 't' })],
  ['axes', axis('utc', 't', { tickCount: 'month', format: '%Y' })],
  ['binned scales', axis('linear', 'a', { tickCount: 10 }, { bins: { step: 1 } })],
])('%s of usual lengths are drawn', async (_name, spec) => {
  expect(await problemOf(spec)).toBeUndefined();
});

test.each([
  ['impute', { key: 'k' }],
  ['joinaggregate', {}],
  ['window', { ops: ['rank'] }],
  ['kde', {}],
  ['quantile', {}],
  ['dotbin', {}],
  ['pivot', { field: 'a', value: 'b', groupby: ['b'] }],
  ['regression', { x: 'k', y: 'b' }],
])('%s makes no groups in what all objects share', async (type, more) => {
  const values = [{ a: '__proto__' }, { a: 'constructor', k: 1 }];
  const given = { type, groupby: ['a'], field: 'b', ...more };
  const spec = { data: [{ name: 'rows', values, transform: [given] }] };
  expect(await problemOf(spec)).toBe('The chart cannot use `__proto__`.');
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test('drawings that begin each other come to an end', async () => {
  const update = "length(data('rows')) ? modify('rows', { a: 1 }) : 0";
  expect(await problemOf({ data: [rows], signals: [{ name: 'more', update }] })).toMatch(/too many/);
});
