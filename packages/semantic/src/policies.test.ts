import { expect, test } from 'vitest';
import { compileText, type ExpectedProblem, expectError, orders } from '../test/marked.ts';
import { planOf } from '../test/plans.ts';

const policies = (lines: string) => orders(`    access_policy:\n${lines}`);
const policyOf = (lines: string) => {
  const { model, errors } = compileText(policies(lines));
  expect(errors).toEqual([]);
  return model!.cubes.get('orders')!.policies[0]!;
};
const filtered = (filter: string) =>
  policies(`      - group: "*"\n        row_level:\n          filters:\n            - ${filter}\n`);

test('groups, rows and members of a policy are resolved', () => {
  const policy = policyOf(`      - groups: [sales, "tenant:north"]
        row_level:
          filters:
            - { member: paid, operator: equals, values: [true] }
            - or:
                - { member: status, operator: equals, values: ["{ userAttributes.status }", done] }
                - and:
                    - { member: id, operator: equals, values: [9007199254740993] }
                    - { member: created_at, operator: afterDate, values: ["2026-01-01"] }
                - { member: status, operator: notSet }
                - { member: id, operator: equals, values: "{ securityContext.customer.id }" }
        member_level: { includes: "*", excludes: [total] }
`);
  expect(policy.groups).toEqual(['sales', 'tenant:north']);
  expect([...policy.members]).toEqual(['id', 'status', 'paid', 'created_at', 'count', 'open', 'all']);
  expect(policy.rows).toEqual({
    and: [
      { member: 'paid', operator: 'equals', values: [{ literal: 'true' }] },
      {
        or: [
          {
            member: 'status',
            operator: 'equals',
            values: [{ viewer: 'userAttributes', path: ['status'] }, { literal: 'done' }],
          },
          {
            and: [
              { member: 'id', operator: 'equals', values: [{ literal: '9007199254740993' }] },
              { member: 'created_at', operator: 'afterDate', values: [{ literal: '2026-01-01' }] },
            ],
          },
          { member: 'status', operator: 'notSet', values: [] },
          {
            member: 'id',
            operator: 'equals',
            values: [{ viewer: 'securityContext', path: ['customer', 'id'] }],
          },
        ],
      },
    ],
  });
});

test('without row_level all rows are open, without member_level all members', () => {
  const policy = policyOf('      - group: "*"\n');
  expect(policy).toMatchObject({ groups: '*', rows: undefined });
  expect(policy.members.size).toBe(8);
});

test.each<[string, string, ExpectedProblem]>([
  ['no group', '      - «row_level: { allow_all: true }\n', { code: 'missing_key', hint: /everybody/ }],
  ['a group and groups', '      - «group: a\n        groups: [b]\n', { code: 'missing_key' }],
  ['no groups at all', '      - «groups: []\n', { code: 'bad_value' }],
  ['a role', '      - group: a\n        «role: x\n', { code: 'unsupported', message: /role:<name>/ }],
  ['conditions', '      - group: a\n        «conditions: []\n', { code: 'unsupported' }],
  [
    'a row level without filters',
    '      - group: a\n        row_level: «{ allow_all: false }\n',
    { code: 'missing_key' },
  ],
  [
    'no filters in the list',
    '      - group: a\n        row_level: { filters: «[] }\n',
    { code: 'bad_value' },
  ],
  [
    'filters that nothing comes after',
    '      - group: a\n        row_level:\n          «filters:\n',
    { code: 'missing_key' },
  ],
  [
    'all rows and filters',
    '      - group: a\n        row_level: «{ allow_all: true, filters: [{ member: status, operator: set }] }\n',
    { code: 'missing_key' },
  ],
  ['a member level of nothing', '      - group: a\n        member_level: «{}\n', { code: 'missing_key' }],
  [
    'a member that does not exist',
    '      - group: a\n        member_level: { includes: [«totl] }\n',
    { code: 'unknown_name', hint: 'Did you mean `total`?' },
  ],
  [
    'a member of another cube',
    '      - group: a\n        member_level: { includes: [«customers.region] }\n',
    { code: 'unknown_name', hint: /its own/ },
  ],
])('a policy is refused for %s', (_, lines, expected) => {
  expectError(policies(lines), expected);
});

const BLANKS = ['', ' ~', ' null', '\n# only a comment'];

test.each<[string, string]>([
  ['access_policy of a cube', orders('    «access_policy:%')],
  ['row_level', policies('      - group: a\n        «row_level:%')],
  ['member_level', policies('      - group: a\n        «member_level:%')],
  ['includes', policies('      - group: a\n        member_level:\n          «includes:%')],
  [
    'excludes',
    policies('      - group: a\n        member_level:\n          includes: "*"\n          «excludes:%'),
  ],
  [
    'access_policy of a view',
    `${orders()}views:\n  - name: v\n    cubes: [{ join_path: orders, includes: "*" }]\n    «access_policy:%`,
  ],
  [
    'includes of a view',
    `${orders()}views:\n  - name: v\n    cubes:\n      - join_path: orders\n        «includes:%`,
  ],
  [
    'excludes of a view',
    `${orders()}views:\n  - name: v\n    cubes:\n      - join_path: orders\n        includes: "*"\n        «excludes:%`,
  ],
])('a blank %s is an error, and opens nothing', (_, text) => {
  for (const blank of BLANKS)
    expectError(text.replace('%', `${blank}\n`), { code: 'bad_value', message: /has no value/ });
});

test.each<[string, string, ExpectedProblem]>([
  [
    'a member that does not exist',
    '{ member: «stauts, operator: set }',
    { code: 'unknown_name', hint: 'Did you mean `status`?' },
  ],
  ['a measure', '{ member: «total, operator: set }', { code: 'not_allowed_here' }],
  [
    'an operator that does not exist',
    '{ member: status, operator: «equal, values: [a] }',
    { code: 'bad_value', hint: 'Did you mean `equals`?' },
  ],
  ['no values', '«{ member: status, operator: equals }', { code: 'bad_value', message: /1 or more/ }],
  ['an empty list of values', '{ member: status, operator: equals, «values: [] }', { code: 'bad_value' }],
  [
    'values of set',
    '{ member: status, operator: set, «values: [a] }',
    { code: 'bad_value', message: /no values/ },
  ],
  [
    'two values of gt',
    '{ member: id, operator: gt, «values: [1, 2] }',
    { code: 'bad_value', message: /one value/ },
  ],
  [
    'a text for a number',
    '{ member: id, operator: equals, values: [«abc] }',
    { code: 'bad_value', message: /type `number`/ },
  ],
  ['a text for a boolean', '{ member: paid, operator: equals, values: [«"yes"] }', { code: 'bad_value' }],
  [
    'a word for a date',
    '{ member: created_at, operator: afterDate, values: [«soon] }',
    { code: 'bad_value' },
  ],
  [
    'a day that does not exist',
    '{ member: created_at, operator: afterDate, values: [«"2026-02-30"] }',
    { code: 'bad_value' },
  ],
  [
    'the year zero',
    '{ member: created_at, operator: afterDate, values: [«"0000-01-01"] }',
    { code: 'bad_value' },
  ],
  [
    'a number without end',
    '{ member: id, operator: equals, values: [«"1e999"] }',
    { code: 'bad_value', message: /type `number`/ },
  ],
  [
    'a date of a text',
    '«{ member: status, operator: afterDate, values: ["2026-01-01"] }',
    { code: 'bad_value' },
  ],
  ['a part of a number', '«{ member: id, operator: contains, values: ["1"] }', { code: 'bad_value' }],
  [
    'a value of the viewer inside of a text',
    '{ member: status, operator: equals, values: [«"a-{ userAttributes.x }"] }',
    { code: 'bad_reference', hint: /userAttributes/ },
  ],
  [
    'something else in braces',
    '{ member: status, operator: equals, values: [«"{ groups }"] }',
    { code: 'bad_reference' },
  ],
  [
    'something below an attribute',
    '{ member: status, operator: equals, values: [«"{ userAttributes.a.b }"] }',
    { code: 'bad_reference' },
  ],
  [
    'a value of the viewer without quotes',
    '{ member: status, operator: equals, values: [«{ userAttributes.x: }] }',
    { code: 'bad_value', hint: /quotes/ },
  ],
  [
    'or beside something else',
    '«{ or: [{ member: status, operator: set }], member: status }',
    { code: 'bad_value' },
  ],
  ['an empty or', '{ or: «[] }', { code: 'bad_value' }],
])('a filter of a policy is refused for %s', (_, filter, expected) => {
  expectError(filtered(filter), expected);
});

test('a policy of a view names the members of the view', () => {
  const view = (member: string) =>
    `${orders()}views:\n  - name: v\n    cubes: [{ join_path: orders, prefix: true, includes: "*" }]\n    access_policy:\n      - group: "*"\n        row_level: { filters: [{ member: ${member}, operator: equals, values: [a] }] }\n`;
  expect(compileText(view('orders_status')).errors).toEqual([]);
  expectError(view('«status'), { code: 'unknown_name' });
});

test('a policy can give the offset of a time', () => {
  const valuesOf = (time: string) => {
    const filter = `{ member: created_at, operator: afterDate, values: ["${time}"] }`;
    const { model, errors } = compileText(filtered(filter));
    expect(errors).toEqual([]);
    return planOf(model!, { measures: ['orders.count'] }).statement.parameters;
  };
  expect(valuesOf('2026-01-01T00:00:00+02:00')).toEqual(valuesOf('2025-12-31 22:00:00'));
});
