/** What is wrong with calculated fields, and who may use what in them. What they mean is in random.test.ts and golden.test.ts. */
import { expect, test } from 'vitest';
import { errorOf, modelOf, planOf, somebody } from '../../../test/plans.ts';
import { QUERY_LIMITS, type QueryIssue } from '../../index.ts';

const model = modelOf(`cubes:
  - name: orders
    sql_table: orders
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
      - { name: amount, sql: amount, type: number }
      - { name: salary, sql: salary, type: number }
      - { name: hidden, sql: hidden, type: number, public: false }
      - { name: created_at, sql: created_at, type: time }
    measures:
      - { name: count, type: count }
      - { name: cost, sql: cost, type: sum }
      - { name: last, sql: "{created_at}", type: max }
    access_policy:
      - group: "*"
        row_level: { filters: [{ member: status, operator: equals, values: [open] }] }
        member_level: { excludes: [salary, cost] }
      - group: staff
`);
const COUNT = { measures: ['orders.count'], dimensions: ['orders.status'] };
const staff = { ...somebody, groups: ['staff'] };
const withField = (field: object) => ({ ...COUNT, calculated: [{ name: 'made', ...field }] });
const expression = (text: string) => withField({ kind: 'expression', expression: text });
const issueOf = (query: object): QueryIssue => errorOf(model, query).issues[0]!;

test('a member that the viewer cannot query cannot be used in a calculated field either', () => {
  const fields = (of: (name: string) => string) => [
    { kind: 'aggregate', of: of('salary'), function: 'avg' },
    { kind: 'shareOfTotal', of: of('cost') },
    { kind: 'difference', of: of('cost') },
    { kind: 'expression', expression: `if(orders.count > 1, ${of('cost')}, 0)` },
    { kind: 'expression', expression: `coalesce(max(${of('salary')}), 0)` },
  ];
  for (const field of fields((name) => `orders.${name}`)) {
    expect(errorOf(model, withField(field)).code, JSON.stringify(field)).toBe('unknown_member');
    expect(planOf(model, withField(field), staff).columns.at(-1)!.key).toBe('made');
  }
  // The same words as for what does not exist, and no member that is hidden is proposed.
  const messages = ['salary', 'hidden', 'nothing'].map((name) =>
    errorOf(model, expression(`sum(orders.${name})`)).issues[0]!.message.replaceAll(name, 'x'),
  );
  expect(new Set(messages).size).toBe(1);
});

test('a member counts as named, so a policy that does not open it opens no rows', () => {
  const field = withField({ kind: 'aggregate', of: 'orders.salary', function: 'sum' });
  const { named, statement } = planOf(model, field, staff);
  expect(named.get('orders')).toContain('salary');
  // The first policy opens rows by their status, but not the salary: only that of the staff counts.
  expect(statement.parameters).toEqual([]);
  expect(planOf(model, COUNT).statement.parameters).toEqual(['open']);
});

test.each([
  ['orders.count +', 14, 14, 'Something is missing at the end.'],
  ['orders.count orders.count', 13, 25, 'An operator is missing before this.'],
  ['(orders.count', 13, 13, 'A `)` is missing here.'],
  ['orders.count / "x"', 15, 16, "Texts stand in single quotes: 'paid'."],
  ["if(orders.status = 'a, 1)", 19, 20, 'This text has no closing quote.'],
  ['rond(orders.count)', 0, 4, 'There is no such function. Did you mean `round`?'],
  ['round(orders.count, 99)', 20, 22, 'This must be a whole number from 0 to 10.'],
  ['1 + orders.status', 4, 17, 'This must be a number, and is a text.'],
  ['coalesce(orders.count, orders.status)', 23, 36, 'This must be a number, and is a text.'],
  ['orders.count > 1', 0, 16, 'The result must be a number or a text.'],
  ['orders.count = null', 15, 19, 'Compare with `is null` or `is not null`.'],
  ['orders.last', 0, 11, 'The result must be a number or a text.'],
  ['1 + orders.cuont', 4, 16, 'There is no member `orders.cuont`'],
  ['1 + other', 4, 9, 'No calculated field before this one is called `other`.'],
  ['orders.amount', 0, 13, 'is a dimension, and not a measure'],
  ['sum(orders.status)', 4, 17, '`sum` does not take `orders.status`'],
  ['sum(orders.amount + 1)', 4, 21, '`sum` takes a dimension.'],
  ['made + 1', 0, 4, 'No calculated field before this one'],
  ['1x + 1', 0, 1, 'This is not a number.'],
  [`1${' '.repeat(2000)}`, 2000, 2001, 'at most 2000 characters'],
  ["1 'is' null", 2, 6, 'An operator is missing before this.'],
  ["round '(' 1)", 6, 9, 'An operator is missing before this.'],
  ['orders.count is 1', 16, 17, 'Only `is null` and `is not null` are known here.'],
  ['9'.repeat(401), 0, 401, 'This number is too large.'],
  ['if((1 = 1) < true, 1, 2)', 3, 17, 'True and false have no order.'],
  ['round(orders.count, 1.5)', 20, 23, 'This must be a whole number from 0 to 10.'],
  ['1 + and', 4, 7, '`and` cannot stand here.'],
  ['round(1, 2, 3)', 0, 14, '`round` takes 1 to 2 values.'],
  ['min(orders.status)', 4, 17, '`min` does not take `orders.status`'],
  ['sum(orders.created_at)', 4, 21, '`sum` does not take `orders.created_at`'],
  [`orders.${'a'.repeat(129)}`, 0, 136, 'This must be a measure, another calculated field'],
  ['1 + * 2', 4, 5, 'A number, a text, a member or a bracket is missing before this.'],
  ['a.b.c.d', 0, 7, 'This must be a measure, another calculated field'],
  ['orders.count); drop table orders --', 13, 14, '`;` cannot stand here.'],
  [`${'('.repeat(50)}1${')'.repeat(50)}`, 40, 41, 'at most 40 deep'],
  [Array(300).fill('1').join('+'), 400, 401, 'at most 200 values'],
])('%s: characters %i to %i', (text, from, to, message) => {
  const issue = issueOf(expression(text));
  expect(issue.path).toBe(`calculated[0].expression[${from}..${to}]`);
  expect(issue.message).toContain(message);
});

test.each([
  [{ kind: 'share' }, 'calculated[0].kind'],
  [{ kind: 'aggregate', of: 'orders.amount', function: 'median' }, 'calculated[0].function'],
  [{ kind: 'aggregate', of: 'orders.count', function: 'sum' }, 'calculated[0].of'],
  [{ kind: 'rank', of: 'orders.status' }, 'calculated[0].of'],
  [{ kind: 'rank', of: 'orders.last' }, 'calculated[0].of'],
  [{ kind: 'rank', of: 'orders.count', along: 'orders.status' }, 'calculated[0].along'],
  [{ kind: 'difference', of: 'orders.count', along: 'orders.amount' }, 'calculated[0].along'],
  [{ kind: 'shareOfTotal', of: 'orders.count', within: ['orders.salary'] }, 'calculated[0].within[0]'],
  [{ kind: 'movingAverage', of: 'orders.count', rows: 1001 }, 'calculated[0].rows'],
  [{ kind: 'rank', of: 'orders.count', title: 7 }, 'calculated[0].title'],
  [{ kind: 'rank', of: 'orders.count', name: 'a.b' }, 'calculated[0].name'],
  [{ kind: 'expression', expression: '1', format: 'money' }, 'calculated[0].format'],
  [{ kind: 'rank', of: 'orders.count', title: 'a\0' }, 'calculated[0].title'],
  [{ kind: 'rank', of: 'orders.count', title: 'a'.repeat(201) }, 'calculated[0].title'],
  [{ kind: 'movingAverage', of: 'orders.count', rows: 1 }, 'calculated[0].rows'],
  [{ kind: 'movingAverage', of: 'orders.count', rows: 2.5 }, 'calculated[0].rows'],
  [{ kind: 'rank', of: 'orders.count', within: Array(201).fill('orders.status') }, 'calculated[0].within'],
  [{ kind: 'expression', expression: 7 }, 'calculated[0].expression'],
  [{ kind: 'expression', expression: "if(orders.status = '\0', 1, 2)" }, 'calculated[0].expression'],
])('%j is refused at its place', (field, path) => {
  expect(issueOf(withField(field)).path).toBe(path);
});

test.each([
  [{ kind: 'rank', of: '1x' }, 'calculated[0].of', 'the name of a measure'],
  [{ kind: 'rank', of: ['orders.count'] }, 'calculated[0].of', 'the name of a measure'],
  [
    { kind: 'difference', of: 'orders.count', along: ['orders.status'] },
    'calculated[0].along',
    'orders.status',
  ],
  [
    { kind: 'difference', of: 'orders.count', along: 'a'.repeat(401) },
    'calculated[0].along',
    'orders.status',
  ],
])('%j is refused for its form', (field, path, message) => {
  expect(issueOf(withField(field))).toEqual({ path, message: expect.stringContaining(message) });
});

test('a calculated field that is no object is refused', () => {
  expect(issueOf({ ...COUNT, calculated: [7] })).toEqual({
    path: 'calculated[0]',
    message: 'This must be an object with `name` and `kind`.',
  });
});

test('a query may have nothing but calculated fields', () => {
  const field = { name: 'made', kind: 'aggregate', of: 'orders.amount', function: 'sum' };
  expect(planOf(model, { calculated: [field] }).columns).toMatchObject([{ key: 'made', type: 'number' }]);
});

test('fields can be sent again as they were understood', () => {
  const by = { along: 'orders.status', within: [] };
  const calculated = [
    { name: 'a', title: 'Mean', format: 'currency', kind: 'aggregate', of: 'orders.amount', function: 'avg' },
    { name: 'b', kind: 'rank', of: 'orders.count', direction: 'asc' },
    { name: 'c', kind: 'rank', of: 'orders.count' },
    { name: 'd', kind: 'movingAverage', of: 'orders.count', ...by, rows: 5 },
    { name: 'e', kind: 'difference', of: 'orders.count', ...by },
    { name: 'f', kind: 'expression', expression: 'a + d' },
  ];
  const { query, statement } = planOf(model, { ...COUNT, calculated }, staff);
  expect(query.calculated).toEqual(calculated);
  expect(planOf(model, query, staff).statement).toEqual(statement);
});

test('a title is shown unless it is blank, and a rank begins with the largest unless it is said', () => {
  const rank = (more: object) =>
    planOf(model, withField({ kind: 'rank', of: 'orders.count', ...more }), staff);
  const titleOf = (title: string) => rank({ title }).annotation.measures.made!.title;
  expect(titleOf('Place')).toBe('Place');
  expect(titleOf(' ')).toBe('Made');
  expect(rank({ direction: 'desc' }).statement).toEqual(rank({}).statement);
  expect(rank({ direction: 'asc' }).statement).not.toEqual(rank({}).statement);
});

test.each([
  'coalesce(null, orders.count + null)',
  'if((orders.count is null) <> true, round(orders.count), 2)',
  'if((1 = 1) = true, 1, 2)',
])('%s is allowed', (text) => {
  expect(planOf(model, expression(text), staff).columns.at(-1)!.type).toBe('number');
});

test('numbers are compared as numbers, and texts by their characters', () => {
  const whenOf = (text: string) =>
    /when (.*) then/.exec(planOf(model, expression(text), staff, 'postgres').statement.sql)![1]!;
  expect(whenOf('if(orders.count > 9, 1, 2)')).not.toContain('collate');
  expect(whenOf("if(orders.status > 'a', 1, 2)")).toContain('collate "C"');
  expect(whenOf("if(orders.status <> 'a', 1, 2)")).not.toContain('collate');
});

test('fields are bounded, have names of their own, and need groups', () => {
  const field = { kind: 'expression', expression: '1' };
  const many = Array.from({ length: QUERY_LIMITS.calculated + 1 }, (_, i) => ({ ...field, name: `f${i}` }));
  expect(issueOf({ ...COUNT, calculated: many }).message).toContain('at most 50 calculated fields');
  const twice = [
    { ...field, name: 'a' },
    { ...field, name: 'A' },
  ];
  expect(issueOf({ ...COUNT, calculated: twice }).path).toBe('calculated[1].name');
  expect(issueOf({ ...withField(field), ungrouped: true }).path).toBe('calculated');
  const chain = Array.from({ length: 12 }, (_, i) => ({
    name: `f${i}`,
    kind: 'runningTotal',
    of: i ? `f${i - 1}` : 'orders.count',
  }));
  expect(issueOf({ ...COUNT, calculated: chain }).message).toContain('at most 10 deep');
});

test('a comparison with null stands around a sum, and the words for truth are values', () => {
  const { statement } = planOf(model, expression('if(orders.count + 1 is null or true, 7, 8)'), staff);
  expect(statement.sql).toMatch(/when \(\(\("below"\.\S+ \+ \$1::bigint\) is null\) or \$2::boolean\) then/);
  expect(statement.parameters).toEqual(['1', 'true', '7', '8']);
  expect(planOf(model, expression('if(false, 7, 8)'), staff).statement.parameters).toEqual([
    'false',
    '7',
    '8',
  ]);
});

test('texts and numbers of an expression are parameters', () => {
  const { statement } = planOf(
    model,
    expression("if(orders.status = 'x''); drop table t --', 12.5, 7)"),
    staff,
  );
  expect(statement.parameters).toEqual(["x'); drop table t --", '12.5', '7']);
  expect(statement.sql).not.toContain('drop');
});
