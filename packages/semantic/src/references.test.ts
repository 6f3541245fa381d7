import { expect, test } from 'vitest';
import {
  compileText,
  customers,
  type ExpectedProblem,
  expectError,
  JOIN,
  orders,
  withDimension,
} from '../test/marked.ts';

const dimension = (sql: string) => withDimension(`{ name: a, type: string, sql: "${sql}" }`);

test.each<[string, string, ExpectedProblem]>([
  [
    'a member that does not exist',
    "'x' || «{stauts}",
    { code: 'unknown_name', hint: 'Did you mean `status`?' },
  ],
  ['the second of two', '{status} || «{nothing}', { code: 'unknown_name' }],
  [
    'a member of the cube that does not exist',
    '«{CUBE.stauts}',
    { code: 'unknown_name', hint: 'Did you mean `status`?' },
  ],
  ['a call', '«{orders.sql()}', { code: 'bad_reference', message: /cannot call/ }],
  ['an expression', '«{status + 1}', { code: 'bad_reference', message: /not a reference/ }],
  ['an index', "«{status['a']}", { code: 'bad_reference' }],
  ['nothing', '«{}', { code: 'bad_reference' }],
  ['a brace that is not closed', 'a «{ b', { code: 'bad_reference', hint: /\\{/ }],
  ['a brace that was not opened', 'a «} b', { code: 'bad_reference' }],
  ['a dollar before it', '$«{CUBE}.a', { code: 'bad_reference', message: /\$/ }],
  ['the filters of a query', "«{FILTER_PARAMS.orders.status.filter('x')}", { code: 'bad_reference' }],
  ['the viewer', '«{securityContext.customer.id}', { code: 'bad_reference', hint: /access_policy/ }],
  [
    'the older name of the viewer',
    '«{SECURITY_CONTEXT.id}',
    { code: 'bad_reference', hint: /access_policy/ },
  ],
  ['a hierarchy', '«{all}', { code: 'not_allowed_here', message: /hierarchy/ }],
  [
    'a granularity that does not exist',
    '«{created_at.mnth}',
    { code: 'unknown_name', hint: 'Did you mean `month`?' },
  ],
  ['a granularity of a text', '«{status.month}', { code: 'unknown_name' }],
])('a reference is refused for %s', (_, sql, expected) => {
  expectError(dimension(sql), expected);
});

test('the column of a reference is right in quotes, in blocks and in folded lines', () => {
  const block = (style: string, text: string) =>
    withDimension(`name: a\n        type: string\n        sql: ${style}\n          ${text}`);
  expectError(block('|', "case when {status} = 'a'\n          then «{nope} end"), { code: 'unknown_name' });
  expectError(block('>-', '{status} ||\n\n          «{nope}'), { code: 'unknown_name' });
  expectError(withDimension("{ name: a, type: string, sql: '''x'' || «{nope}' }"), { code: 'unknown_name' });
  expectError(withDimension('{ name: a, type: string, sql: "\\\\{ \\"\\" {status} «{nope}" }'), {
    code: 'unknown_name',
  });
});

const parts = (sql: string, name = 'a') => {
  const { model, errors } = compileText(
    orders(JOIN).replace(
      '    dimensions:\n',
      `    dimensions:\n      - { name: a, type: string, sql: "${sql}" }\n`,
    ) + customers(),
  );
  expect(errors).toEqual([]);
  return model!.cubes.get('orders')!.dimensions.get(name)!.value;
};
const own = { kind: 'table', cube: 'orders', path: ['orders'] };
const status = { kind: 'dimension', cube: 'orders', member: 'status', path: ['orders'] };

test.each<[string, unknown[]]>([
  ['amount', [own, '.amount']],
  ['{CUBE}.amount', [own, '.amount']],
  ['{orders}.amount', [own, '.amount']],
  ['lower({status})', ['lower(', status, ')']],
  ['{ CUBE.status }', [status]],
  ['{orders.status}', [status]],
  ['{customers}.x', [{ kind: 'table', cube: 'customers', path: ['customers'] }, '.x']],
  ['{customers.region}', [{ kind: 'dimension', cube: 'customers', member: 'region', path: ['customers'] }]],
  [
    '{CUBE.customers.region}',
    [{ kind: 'dimension', cube: 'customers', member: 'region', path: ['orders', 'customers'] }],
  ],
  [
    '{created_at.month}',
    [{ kind: 'dimension', cube: 'orders', member: 'created_at', path: ['orders'], granularity: 'month' }],
  ],
  ["x = '\\\\{\\\\}'", ["x = '{}'"]],
])('%s is resolved', (sql, expected) => {
  expect(parts(sql)).toMatchObject(expected);
});

test('a cube that no join reaches cannot be named', () => {
  const text = dimension('«{customers.region}') + customers();
  expectError(text, { code: 'no_join_path', hint: /Add a join/ });
});

test('a path of joins must exist step by step', () => {
  const text = `${orders(JOIN).replace('    dimensions:\n', '    dimensions:\n      - { name: a, type: string, sql: "«{customers.products.id}" }\n')}${customers()}  - name: products\n    sql_table: p\n    dimensions: [{ name: id, sql: id, type: number }]\n`;
  expectError(text, { code: 'no_join_path', message: /`customers` is not joined to `products`/ });
});

test('members that refer to themselves are refused, also through others and other cubes', () => {
  expectError(withDimension('{ name: «a, type: string, sql: "{a}" }'), {
    code: 'reference_cycle',
    message: /orders.a → orders.a/,
  });
  const { errors } = compileText(
    withDimension(
      '{ name: a, type: string, sql: "{b}" }\n      - { name: b, type: string, sql: "{c}" }\n      - { name: c, type: string, sql: "{a}" }',
    ),
  );
  expect(errors).toMatchObject([{ code: 'reference_cycle', line: 5 }]);
  const across =
    orders(JOIN).replace(
      '    dimensions:\n',
      '    dimensions:\n      - { name: a, type: string, sql: "{customers.b}" }\n',
    ) +
    customers().replace(
      '    dimensions:\n',
      '    dimensions:\n      - { name: b, type: string, sql: "{orders.a}" }\n',
    );
  expect(compileText(across).errors).toMatchObject([{ code: 'reference_cycle' }]);
});

test('a dotted name is a cube, even if a member has the same name', () => {
  const { errors, model } = compileText(
    orders(JOIN).replace(
      '    dimensions:\n',
      '    dimensions:\n      - { name: customers, type: string, sql: "{customers.region}" }\n      - { name: b, type: string, sql: "{customers}" }\n',
    ) + customers(),
  );
  expect(errors).toEqual([]);
  const { dimensions } = model!.cubes.get('orders')!;
  expect(dimensions.get('customers')!.value).toMatchObject([{ cube: 'customers', member: 'region' }]);
  expect(dimensions.get('b')!.value).toMatchObject([{ cube: 'orders', member: 'customers' }]);
});
