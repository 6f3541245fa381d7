/** The model of the tests of SQL, and its tables on every engine. */
import { afterAll, beforeAll, expect, inject } from 'vitest';
import type { Viewer } from '../src/index.ts';
import { type Cell, type Engine, openDuckDb, openPostgres } from './engines.ts';
import { modelOf, somebody } from './plans.ts';
import { sqlPlanOf } from './sql.ts';

/** A model of one cube, to which more can be appended: measures, and what a cube has after them. */
export const ORDERS = `cubes:
  - name: orders
    sql_table: shop_orders
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: status, sql: status, type: string }
    measures:
      - { name: count, type: count }
`;

export const shop = modelOf(`cubes:
  - name: customers
    sql_table: shop_customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: name, sql: name, type: string }
      - { name: region, sql: region, type: string }
      - { name: secret, sql: name, type: string, public: false }
    measures:
      - { name: count, type: count }
    access_policy:
      - group: all
        row_level: { allow_all: true }
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.region }"] }] }
  - name: orders
    sql_table: shop_orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
      - { name: items, relationship: one_to_many, sql: "{CUBE.id} = {items}.order_id" }
      - { name: details, relationship: one_to_one, sql: "{CUBE.id} = {details.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: customer_id, sql: customer_id, type: number }
      - { name: status, sql: status, type: string }
      - { name: ordered_at, sql: ordered_at, type: time }
    measures:
      - { name: count, type: count }
      - { name: amount, sql: amount, type: sum }
      - { name: average, sql: amount, type: avg }
      - { name: done, type: count, filters: [{ sql: "{CUBE}.status = 'done'" }] }
      - { name: done_share, sql: "{done} / {count}", type: number }
      - { name: buyers, sql: customer_id, type: count_distinct }
      - { name: latest, sql: "{ordered_at}", type: max }
      - { name: own, sql: "sum({CUBE}.amount) / 2", type: number }
      - { name: own_ids, sql: "sum({id}) * 2", type: number }
      - { name: big_amount, sql: "{amount}", type: number, filters: [{ sql: "{CUBE}.amount > 6" }] }
      - { name: own_share, sql: "sum({CUBE}.amount) / {count}", type: number }
      - { name: own_of_own, sql: "sum({CUBE}.amount) / {own}", type: number }
      - { name: own_of_others, sql: "sum({CUBE}.amount) / {customers.count}", type: number }
      - { name: longest_name, sql: "max(length({customers}.name)) + count(*)", type: number }
      - { name: item_ids, sql: "sum({items}.id) * 2", type: number }
      - { name: per_customer, sql: "{amount} / {customers.count}", type: number }
      - { name: whole, sql: "max({CUBE}::text)", type: number }
      - { name: window, sql: amount, type: sum, rolling_window: { trailing: 7 day } }
    segments:
      - { name: big, sql: "{CUBE}.amount > 6" }
  - name: items
    sql_table: shop_items
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: product, sql: product, type: string }
    measures:
      - { name: count, type: count }
      - { name: weight, sql: "{CUBE}.id * 10", type: sum }
  - name: details
    sql_table: shop_items
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
    measures:
      - { name: own_count, sql: "count({CUBE}.id) + 0", type: number }
  - name: hidden
    sql_table: shop_orders
    public: false
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
  - name: elsewhere
    sql_table: others
    data_source: other
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
views:
  - name: ordering
    cubes: [{ join_path: orders.customers, includes: [name, region] }]
  - name: products
    cubes:
      - { join_path: orders.items, includes: [product] }
      - { join_path: orders, includes: [status] }
  - name: sales
    cubes:
      - { join_path: orders, includes: "*" }
      - { join_path: orders.customers, includes: [name, region, { name: count, alias: people }] }
      - { join_path: orders.items, includes: [product, weight, { name: count, alias: lines }] }
      - { join_path: orders.details, includes: [own_count] }
`);

const TABLES = [
  'create table shop_customers (id bigint, name text, region text)',
  "insert into shop_customers values (1, 'Ada', 'EMEA'), (2, 'Bob', 'AMER'), (3, '7', 'EMEA')",
  'create table shop_orders (id bigint, customer_id bigint, status text, amount decimal(10, 2), ordered_at timestamp)',
  `insert into shop_orders values (1, 1, 'new', 10.5, '2024-01-10 08:00:00'), (2, 1, 'done', 20, '2024-01-31 23:30:00'),
    (3, 2, 'done', 5.25, '2024-02-01 00:30:00'), (4, 3, 'done', 7, '2024-02-15 12:00:00'), (5, 3, null, 1, '2024-03-01 12:00:00')`,
  'create table shop_items (id bigint, order_id bigint, product text)',
  "insert into shop_items values (1, 1, 'pen'), (2, 1, 'ink'), (3, 2, 'pen'), (4, null, 'cap')",
];

export const analyst: Viewer = { ...somebody, groups: ['all'] };
export const emea: Viewer = { ...somebody, userAttributes: { region: 'EMEA' } };

/** The tables on every engine, for the tests of a file. */
export function shopEngines() {
  const engines: Engine[] = [];
  beforeAll(async () => {
    engines.push(await openDuckDb(), await openPostgres(inject('postgresUrl')));
    for (const engine of engines) for (const statement of TABLES) await engine.run(statement);
  });
  afterAll(async () => {
    for (const engine of engines) await engine.close();
  });

  /** The rows, which are the same on all engines. */
  async function rowsOf(text: string, viewer: Viewer = analyst): Promise<Cell[][]> {
    const answers: Cell[][][] = [];
    for (const engine of engines) {
      const { statement } = sqlPlanOf(shop, text, viewer, engine.dialect);
      answers.push(
        await engine.rows(statement).catch((error) => {
          throw new Error(`${engine.dialect}: ${error.message}\n${statement.sql}`);
        }),
      );
    }
    expect(answers[1], text).toEqual(answers[0]);
    return answers[0]!;
  }

  return { engines, rowsOf };
}
