import { expect, test } from 'vitest';
import { modelOf, planOf, somebody } from '../../test/plans.ts';
import { metaOf, type Viewer } from '../index.ts';

const model = modelOf(`cubes:
  - name: orders
    sql_table: orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
    measures:
      - { name: count, type: count, drill_members: [status, customers.name] }
  - name: customers
    sql_table: customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: name, sql: name, type: string }
    access_policy:
      - group: sales
views:
  - name: sales
    cubes:
      - { join_path: orders, includes: [count, status] }
      - { join_path: orders.customers, includes: [name] }
`);

test('nothing of a cube that is closed to the viewer is named, neither as a detail nor in a view', () => {
  expect(JSON.stringify(metaOf(model, somebody))).not.toContain('customers');
  const seller: Viewer = { ...somebody, groups: ['sales'] };
  const [, , view] = metaOf(model, seller);
  expect(view!.dimensions.map(({ aliasMember }) => aliasMember)).toEqual(['orders.status', 'customers.name']);
});

test.each([
  ['orders', ['orders.status', 'customers.name']],
  ['sales', ['sales.status', 'sales.name']],
])(
  'the details of a measure of %s are the same in the list of members and beside an answer',
  (owner, names) => {
    const seller: Viewer = { ...somebody, groups: ['sales'] };
    const listed = metaOf(model, seller).find(({ name }) => name === owner)!.measures[0]!;
    const { annotation } = planOf(model, { measures: [`${owner}.count`] }, seller);
    for (const { drillMembers, drillMembersGrouped } of [listed, annotation.measures[`${owner}.count`]!]) {
      expect(drillMembers).toEqual(names);
      expect(drillMembersGrouped).toEqual({ measures: [], dimensions: names });
    }
  },
);

test('the details beside an answer name nothing of a cube that is closed to the viewer', () => {
  const { annotation } = planOf(model, { measures: ['orders.count'] }, somebody);
  expect(annotation.measures['orders.count']!.drillMembers).toEqual(['orders.status']);
});

test('the details beside an answer name no member that is hidden from the viewer', () => {
  const hiding = modelOf(`cubes:
  - name: orders
    sql_table: orders
    dimensions:
      - { name: status, sql: status, type: string }
      - { name: secret, sql: secret, type: string }
    measures:
      - { name: count, type: count, drill_members: [status, secret] }
    access_policy:
      - { group: "*", member_level: { excludes: [secret] } }
`);
  const { annotation } = planOf(hiding, { measures: ['orders.count'] });
  expect(annotation.measures['orders.count']!.drillMembers).toEqual(['orders.status']);
});
