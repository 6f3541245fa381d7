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
    cross join (
      select
        ("runs"."period" + to_seconds("runs"."number" * $1::bigint)) as "period",
        ("runs"."from" + to_seconds("runs"."number" * $1::bigint)) as "from",
        ("runs"."to" + to_seconds("runs"."number" * $1::bigint)) as "to"
      from (
        select
          "runs"."period" as "period",
          "runs"."from" as "from",
          "runs"."to" as "to",
          unnest(range("runs"."count")) as "number"
        from (values ($2::timestamp, $3::timestamptz, $4::timestamptz, $5::bigint)) as "runs"("period", "from", "to", "count")
      ) as "runs"
    ) as "periods"
    where ("orders".created_at >= "periods"."from" and "orders".created_at < "periods"."to")
  ) as "rows"
  group by 1, 2
) as "fact_1"
order by "fact_1"."orders.created_at.week" asc nulls last, ("fact_1"."items.product")::varchar asc nulls last
limit 50000;
-- ["604800","2024-03-25T00:00:00.000","2024-03-29T00:00:00.000000Z","2024-04-01T00:00:00.000000Z","2"]

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
    cross join (
      select
        ("runs"."period" + "runs"."number" * $1::bigint * interval '1 second') as "period",
        ("runs"."from" + "runs"."number" * $1::bigint * interval '1 second') as "from",
        ("runs"."to" + "runs"."number" * $1::bigint * interval '1 second') as "to"
      from (
        select
          "runs"."period" as "period",
          "runs"."from" as "from",
          "runs"."to" as "to",
          generate_series(0, "runs"."count" - 1) as "number"
        from (values ($2::timestamp, $3::timestamptz, $4::timestamptz, $5::bigint)) as "runs"("period", "from", "to", "count")
      ) as "runs"
    ) as "periods"
    where ("orders".created_at >= "periods"."from" and "orders".created_at < "periods"."to")
  ) as "rows"
  group by 1, 2
) as "fact_1"
order by "fact_1"."orders.created_at.week" asc nulls last, ("fact_1"."items.product")::text collate "C" asc nulls last
limit 50000;
-- ["604800","2024-03-25T00:00:00.000","2024-03-29T00:00:00.000000Z","2024-04-01T00:00:00.000000Z","2"]

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
    cross join (
      select
        addSeconds("runs"."period", "runs"."number" * {p1:Int64}) as "period",
        addSeconds("runs"."from", "runs"."number" * {p1:Int64}) as "from",
        addSeconds("runs"."to", "runs"."number" * {p1:Int64}) as "to"
      from (
        select
          "runs"."period" as "period",
          "runs"."from" as "from",
          "runs"."to" as "to",
          arrayJoin(range(toUInt64("runs"."count"))) as "number"
        from (select tupleElement(row, 1) as "period", tupleElement(row, 2) as "from", tupleElement(row, 3) as "to", tupleElement(row, 4) as "count" from (select arrayJoin([({p2:DateTime64(6, 'UTC')}, {p3:DateTime64(6, 'UTC')}, {p4:DateTime64(6, 'UTC')}, {p5:Int64})]) as row)) as "runs"
      ) as "runs"
    ) as "periods"
    where ("orders".created_at >= "periods"."from" and "orders".created_at < "periods"."to")
  ) as "rows"
  group by 1, 2
) as "fact_1"
order by "fact_1"."orders.created_at.week" asc nulls last, toString("fact_1"."items.product") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["604800","2024-03-25 00:00:00.000","2024-03-29 00:00:00.000000","2024-04-01 00:00:00.000000","2"]

-- rows
-- ["ink","2024-03-25 00:00:00","100"]
-- ["pen","2024-03-25 00:00:00","120.5"]
-- [null,"2024-03-25 00:00:00","0"]
