-- a rolling window by a dimension that multiplies rows
-- {
--   "measures": [
--     "orders.last_three_days"
--   ],
--   "dimensions": [
--     "items.product"
--   ],
--   "timeDimensions": [
--     {
--       "dimension": "orders.created_at",
--       "granularity": "week",
--       "dateRange": [
--         "2024-03-25",
--         "2024-04-07"
--       ]
--     }
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."items.product" as "items.product",
  "fact_1"."orders.created_at.week" as "orders.created_at.week",
  "fact_1"."m1" as "orders.last_three_days"
from (
  select
    "rows"."items.product" as "items.product",
    "rows"."orders.created_at.week" as "orders.created_at.week",
    sum("rows"."m1") as "m1"
  from (
    select distinct
      "items".product as "items.product",
      "periods"."period" as "orders.created_at.week",
      "orders".id as "id",
      "orders".amount as "m1"
    from orders as "orders"
    left join (
select * from items where not deleted
    ) as "items" on "orders".id = "items".order_id
    cross join (values ($1::timestamp, $2::timestamptz, $3::timestamptz), ($4::timestamp, $5::timestamptz, $6::timestamptz)) as "periods"("period", "from", "to")
    where ("orders".created_at >= "periods"."from" and "orders".created_at < "periods"."to")
  ) as "rows"
  group by 1, 2
) as "fact_1"
order by "fact_1"."orders.created_at.week" asc nulls last, ("fact_1"."items.product")::varchar asc nulls last
limit 50000;
-- ["2024-03-25T00:00:00.000","2024-03-29T00:00:00.000000Z","2024-04-01T00:00:00.000000Z","2024-04-01T00:00:00.000","2024-04-05T00:00:00.000000Z","2024-04-08T00:00:00.000000Z"]

-- postgres
select
  "fact_1"."items.product" as "items.product",
  "fact_1"."orders.created_at.week" as "orders.created_at.week",
  "fact_1"."m1" as "orders.last_three_days"
from (
  select
    "rows"."items.product" as "items.product",
    "rows"."orders.created_at.week" as "orders.created_at.week",
    sum("rows"."m1") as "m1"
  from (
    select distinct
      "items".product as "items.product",
      "periods"."period" as "orders.created_at.week",
      "orders".id as "id",
      "orders".amount as "m1"
    from orders as "orders"
    left join (
select * from items where not deleted
    ) as "items" on "orders".id = "items".order_id
    cross join (values ($1::timestamp, $2::timestamptz, $3::timestamptz), ($4::timestamp, $5::timestamptz, $6::timestamptz)) as "periods"("period", "from", "to")
    where ("orders".created_at >= "periods"."from" and "orders".created_at < "periods"."to")
  ) as "rows"
  group by 1, 2
) as "fact_1"
order by "fact_1"."orders.created_at.week" asc nulls last, ("fact_1"."items.product")::text collate "C" asc nulls last
limit 50000;
-- ["2024-03-25T00:00:00.000","2024-03-29T00:00:00.000000Z","2024-04-01T00:00:00.000000Z","2024-04-01T00:00:00.000","2024-04-05T00:00:00.000000Z","2024-04-08T00:00:00.000000Z"]

-- clickhouse
select
  "fact_1"."items.product" as "items.product",
  "fact_1"."orders.created_at.week" as "orders.created_at.week",
  "fact_1"."m1" as "orders.last_three_days"
from (
  select
    "rows"."items.product" as "items.product",
    "rows"."orders.created_at.week" as "orders.created_at.week",
    sum("rows"."m1") as "m1"
  from (
    select distinct
      "items".product as "items.product",
      "periods"."period" as "orders.created_at.week",
      "orders".id as "id",
      "orders".amount as "m1"
    from orders as "orders"
    left join (
select * from items where not deleted
    ) as "items" on "orders".id = "items".order_id
    cross join (select tupleElement(row, 1) as "period", tupleElement(row, 2) as "from", tupleElement(row, 3) as "to" from (select arrayJoin([({p1:DateTime64(6, 'UTC')}, {p2:DateTime64(6, 'UTC')}, {p3:DateTime64(6, 'UTC')}), ({p4:DateTime64(6, 'UTC')}, {p5:DateTime64(6, 'UTC')}, {p6:DateTime64(6, 'UTC')})]) as row)) as "periods"
    where ("orders".created_at >= "periods"."from" and "orders".created_at < "periods"."to")
  ) as "rows"
  group by 1, 2
) as "fact_1"
order by "fact_1"."orders.created_at.week" asc nulls last, toString("fact_1"."items.product") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["2024-03-25 00:00:00.000","2024-03-29 00:00:00.000000","2024-04-01 00:00:00.000000","2024-04-01 00:00:00.000","2024-04-05 00:00:00.000000","2024-04-08 00:00:00.000000"]

-- rows
-- ["ink","2024-03-25 00:00:00","100"]
-- ["pen","2024-03-25 00:00:00","120.5"]
-- [null,"2024-03-25 00:00:00","0"]
