/** The data model of a new deployment. It needs no table, so it builds and answers queries at once. */
export const STARTER_MODEL: ReadonlyMap<string, string> = new Map([
  [
    'model/cubes/example_orders.yml',
    `cubes:
  - name: example_orders
    description: A few made-up orders. Replace them with a table of yours.
    sql: >
      SELECT 1 AS id, 'completed' AS status, 120.50 AS amount
      UNION ALL SELECT 2, 'completed', 80.00
      UNION ALL SELECT 3, 'open', 42.00

    dimensions:
      - name: id
        sql: "{CUBE}.id"
        type: number
        primary_key: true

      - name: status
        sql: "{CUBE}.status"
        type: string

    measures:
      - name: count
        type: count

      - name: total_amount
        sql: "{CUBE}.amount"
        type: sum
`,
  ],
  [
    'model/views/example.yml',
    `views:
  - name: example
    description: What people see of the orders.
    cubes:
      - join_path: example_orders
        includes: "*"
`,
  ],
]);
