/** What expressions of charts reach, by Vega itself. */
import { expect, test, vi } from 'vitest';
import { problemOf } from '../../test/problem-of.ts';
import { chartLocale } from './locale.ts';
import { createView } from './runtime.ts';

const SHAPES = {
  width: 100,
  height: 100,
  data: [{ name: 'rows', values: [{ a: 1, own: { b: [2, 3] }, text: 'x1' }] }],
  marks: [
    {
      type: 'rect',
      from: { data: 'rows' },
      encode: { enter: { x: { value: 10 }, y: { value: 10 }, width: { value: 50 }, height: { value: 50 } } },
    },
  ],
};

interface Outcome {
  value?: unknown;
  problem?: string;
}

/** Draws the shapes twice: the first time, there are none that an expression could find. */
async function found(expression: string): Promise<Outcome> {
  let problem: string | undefined;
  const refuse = ({ message }: Error) => {
    problem = message;
  };
  const signals = [
    { name: 'round', value: 0 },
    { name: 'result', value: 'nothing yet', update: `round ? [${expression}] : 'nothing yet'` },
  ];
  try {
    const view = createView(
      { ...SHAPES, signals },
      {},
      chartLocale('en', 'EUR'),
      () => ({}),
      refuse,
      'none',
    ) as ReturnType<typeof createView> & {
      signal(name: 'result'): unknown[];
      signal(name: 'round', value: number): void;
    };
    await view.runAsync();
    view.signal('round', 1);
    await view.runAsync();
    const [value] = view.signal('result');
    view.finalize();
    return problem ? { problem } : { value };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

test('times can be the ends of an axis', async () => {
  const fields = [{ signal: '{ data: datetime(2020, 0) }' }, { signal: '{ data: datetime(2021, 0) }' }];
  expect(
    await problemOf({
      width: 100,
      scales: [{ name: 'x', type: 'time', domain: { fields }, range: 'width' }],
    }),
  ).toBeUndefined();
});

const SHAPE = 'intersect([[0, 0], [100, 100]])[0]';

test.each([
  ["data('rows')[0].own.b[1]", 3],
  ["pluck(data('rows'), 'a')[0]", 1],
  [`${SHAPE}.datum.a`, 1],
  [`${SHAPE}.mark.marktype`, 'rect'],
  ["{ a: 1, 'view': 2 }['view']", 2],
  ["merge({ a: 1 }, data('rows')[0]).text", 'x1'],
  ["replace('a-b', /[-_]/g, '+') + test(/^x\\d+$/, 'x12') + join(split('a,b', ','), ';')", 'a+btruea;b'],
  ["test(regexp('(?:ab)+'), 'abab')", true],
  [
    "replace('  Doe, Jane  (Ohio)', /^\\s*(\\w+),\\s*(\\w+)\\s*(?:\\((\\w+)\\))?$/, '$2 $1, $3')",
    'Jane Doe, Ohio',
  ],
  ["test(/^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.? \\d{1,2}$/i, 'December 24')", true],
  ["'abc'.length + [1, 2].length", 5],
  ["toString(12) + 'a'", '12a'],
])('%s is %j', async (expression, value) => {
  expect(await found(expression)).toEqual({ value });
});

test.each([
  `${SHAPE}.mark.group.context`,
  `${SHAPE}['context']`,
  `${SHAPE}.bounds`,
  `pluck([${SHAPE}.mark.group], 'context')[0]`,
  `pluck(${SHAPE}, 'mark.group.context.dataflow')`,
  '{ a: 1 }.constructor',
  "{ a: 1 }['const' + 'ructor']",
  "'text'.constructor",
  '[1].map',
  "regexp('a').constructor",
  "datetime(0)['construct' + 'or']",
  "data('rows')[0].constructor",
  "'text'[['construct' + 'or']]",
])('%s reaches nothing', async (expression) => {
  const { value, problem } = await found(expression);
  expect(problem).toBeUndefined();
  expect(value).toBeUndefined();
});

test.each([
  "modify('rows', null, null, null, { a: 1 }, { a: 2 })",
  `modify('rows', ${SHAPE})`,
  `modify('rows', pluck([${SHAPE}], 'mark'))`,
  "setdata('rows', [])",
  "encode(1, 'enter')",
  'view()',
  'toString',
  'toString(intersect([[0, 0], [100, 100]])[constructor])',
  "{ a: 1 }['constructor']",
  'merge(intersect([[0, 0], [100, 100]]))',
  "test(/(a+)+$/, 'aaaa')",
  "test('(a|aa)+$', 'aaaa')",
  "regexp('((a*)b)*')",
  "split(pad('x', 10000) + 'yy', '')",
  "test(/a*a*a*b/, pad('', 9000, 'a'))",
  "replace(pad('', 40, 'a'), /^a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a{30}/, '')",
  "split('aa', /(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)/)",
])('%s is refused', async (expression) => {
  expect((await found(expression)).problem).toMatch(/^The chart cannot use/);
});

test('a field cannot name what all objects have', async () => {
  const values = [{ unit: 'poisoned', fields: [{ field: '__proto__', type: 'E' }], values: [1] }];
  const spec = {
    data: [{ name: 'rows', values }],
    signals: [{ name: 'result', update: "vlSelectionResolve('rows')" }],
  };
  expect(await problemOf(spec)).toMatch(/^The chart cannot use the field/);
  expect({}).not.toHaveProperty('poisoned');
});

test.each([
  // The list is no type that a parser writes, so that a guard does not know what it is.
  { $expr: { code: 'x', ast: { type: ['Literal'], value: 1 } } },
  { $context: true },
  { $ref: 0 },
])('a chart cannot have %j, which Vega takes for what it has parsed', async (value) => {
  const impute = { type: 'impute', field: 'toString', key: 'k', keyvals: [1], value };
  const spec = { data: [{ name: 'rows', values: [{ $own: 1 }], transform: [impute] }] };
  await expect(problemOf(spec)).rejects.toThrow(/^The chart cannot use `\$/);
});

test('rows can have any names', async () => {
  expect(await problemOf({ data: [{ name: 'rows', values: [{ $expr: 1 }] }] })).toBeUndefined();
});

test('of the page around, a chart hears where a pointer goes, which drags its selections', async () => {
  const heard: string[] = [];
  const addEventListener = (type: string) => heard.push(type);
  vi.stubGlobal('window', { addEventListener, removeEventListener() {} });
  const on = ['pointermove', 'pointerup', 'keydown', 'message'].map((type) => ({
    events: { source: 'window', type },
    update: '1',
  }));
  await problemOf({ signals: [{ name: 'dragged', on }] });
  vi.unstubAllGlobals();
  expect(heard).toEqual(['pointermove', 'pointerup']);
});
