import { expect, test } from 'vitest';
import { compileModel, formatYaml, renameMember } from '../index.ts';

const BASE = `# The orders.
cubes:
  - name: base
    sql_table: public.orders
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string } # its status
    measures:
      - name: revenue   # what we earn
        sql: amount
        type: sum
        drill_members: [id, status]
      - { name: revenue_per_order, type: number, sql: "{revenue} / {CUBE.count}" }
      - name: done
        type: count
        filters: [{ sql: "{CUBE.status} = 'status' and {CUBE}.status is not null" }]
      - { name: count, type: count }
    access_policy:
      - group: "*"
        row_level: { filters: [{ member: "{CUBE}.status", operator: equals, values: ["{ userAttributes.status }"] }] }
        member_level: { includes: "*", excludes: [status] }
  - name: orders
    extends: base
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
`;
const OTHER = `cubes:
  - name: customers
    sql_table: public.customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
      - { name: revenue, sql: "{orders.revenue}", type: number, sub_query: true }
views:
  - name: sales
    cubes:
      - { join_path: orders, includes: [revenue, status] }
      - { join_path: orders.customers, prefix: true, includes: [status] }
    folders:
      - { name: Numbers, includes: [revenue, status, customers_status] }
    access_policy:
      - group: "*"
        row_level: { filters: [{ member: status, operator: set }] }
`;
const FILES = new Map([
  ['model/base.yml', BASE],
  ['model/other.yml', OTHER],
]);
const compiled = (files: ReadonlyMap<string, string>) =>
  compileModel(files).errors.map(({ message }) => message);

test('a member gets another name in every file, and nothing else changes', () => {
  expect(compiled(FILES)).toEqual([]);
  const renamed = renameMember(FILES, { cube: 'orders', member: 'status', newName: 'state' });
  expect(renamed.files.get('model/base.yml')).toBe(
    BASE.replace('{ name: status,', '{ name: state,')
      .replace('[id, status]', '[id, state]')
      .replace('"{CUBE.status} =', '"{CUBE.state} =')
      .replace('excludes: [status]', 'excludes: [state]')
      .replace('member: "{CUBE}.status"', 'member: "{CUBE}.state"'),
  );
  // The status of the customers is another member.
  expect(renamed.files.get('model/other.yml')).toBe(
    OTHER.replace('[revenue, status] }', '[revenue, state] }')
      .replace('[revenue, status, customers_status]', '[revenue, state, customers_status]')
      .replace('{ member: status,', '{ member: state,'),
  );
  expect(renamed.shownBy).toEqual([{ before: 'sales.status', after: 'sales.state' }]);
  expect(compiled(new Map([...FILES, ...renamed.files]))).toEqual([]);
});

test('references from other cubes follow, and a name that is taken changes nothing', () => {
  const renamed = renameMember(FILES, { cube: 'base', member: 'revenue', newName: 'income' });
  expect(renamed.files.get('model/base.yml')).toContain('sql: "{income} / {CUBE.count}"');
  expect(renamed.files.get('model/base.yml')).toContain('name: income   # what we earn');
  expect(renamed.files.get('model/other.yml')).toContain('{ name: revenue, sql: "{orders.income}"');
  expect(compiled(new Map([...FILES, ...renamed.files]))).toEqual([]);
  const taken = renameMember(FILES, { cube: 'orders', member: 'revenue', newName: 'count' });
  expect([taken.files.size, taken.takenIn]).toEqual([0, 'base']);
});

test('a file is laid out anew with its comments and order, and left alone if it cannot be', () => {
  const loose = `# first\ncubes:\n- name:   orders # which\n  sql: |\n    select 1 as id\n  # inner\n  dimensions:\n  - {name: id,   sql: id, type: number}\n`;
  const formatted = formatYaml(loose);
  expect(formatted).toBe(
    `# first\ncubes:\n  - name: orders # which\n    sql: |\n      select 1 as id\n    # inner\n    dimensions:\n      - { name: id, sql: id, type: number }\n`,
  );
  expect(formatYaml(formatted)).toBe(formatted);
  expect(formatYaml('cubes: [')).toBe('cubes: [');
  for (const text of FILES.values())
    expect(compiled(new Map([['model/x.yml', formatYaml(text)]]))).toEqual(
      compiled(new Map([['model/x.yml', text]])),
    );
});
