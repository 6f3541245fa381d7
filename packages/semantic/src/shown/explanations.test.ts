import { expect, test } from 'vitest';
import { modelOf, somebody } from '../../test/plans.ts';
import { explainAccess } from './explanations.ts';

const model = modelOf(`cubes:
  - name: orders
    sql_table: orders
    dimensions: [{ name: id, sql: id, type: number, primary_key: true, public: true }, { name: region, sql: region, type: string }]
    measures: [{ name: count, type: count }]
    access_policy:
      - { group: analysts, row_level: { allow_all: true } }
      - { group: partners, row_level: { filters: [{ member: region, operator: equals, values: [EU] }] } }
  - name: notes
    sql_table: notes
    dimensions: [{ name: id, sql: id, type: number, primary_key: true, public: true }]
views:
  - name: sales
    cubes: [{ join_path: orders, includes: "*" }]
  - name: own
    cubes: [{ join_path: orders, includes: "*" }]
    access_policy: [{ group: partners, row_level: { filters: [{ member: region, operator: equals, values: [APAC] }] } }]
  - name: free
    cubes: [{ join_path: notes, includes: "*" }]
`);

const rowsFor = (groups: string[]) =>
  Object.fromEntries(
    [...explainAccess(model, { ...somebody, groups })].map(({ name, rows, root }) => [name, [rows, root]]),
  );

test('a view leaves no more rows than its root, with whose rows every query begins', () => {
  const all = { notes: ['all', undefined], free: ['all', undefined] };
  expect(rowsFor(['analysts'])).toEqual({
    ...all,
    orders: ['all', undefined],
    sales: ['all', 'orders'],
    own: ['none', 'orders'],
  });
  expect(rowsFor(['partners'])).toEqual({
    ...all,
    orders: ['filtered', undefined],
    sales: ['filtered', 'orders'],
    own: ['filtered', 'orders'],
  });
  expect(rowsFor([])).toMatchObject({
    ...all,
    orders: ['none', undefined],
    sales: ['none', 'orders'],
    own: ['none', 'orders'],
  });
});
