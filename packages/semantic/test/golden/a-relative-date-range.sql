-- a relative date range
-- {
--   "measures": [
--     "orders.count"
--   ],
--   "timeDimensions": [
--     {
--       "dimension": "orders.created_at",
--       "dateRange": "last 3 days"
--     }
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."m1" as "orders.count"
from (
  select
    count(*) as "m1"
  from orders as "orders"
  where ("orders".created_at >= $1::timestamptz and "orders".created_at < $2::timestamptz)
) as "fact_1"
order by "fact_1"."m1" desc nulls last
limit 50000;
-- ["2024-03-30T00:00:00.000000Z","2024-04-02T00:00:00.000000Z"]

-- postgres
select
  "fact_1"."m1" as "orders.count"
from (
  select
    count(*) as "m1"
  from orders as "orders"
  where ("orders".created_at >= $1::timestamptz and "orders".created_at < $2::timestamptz)
) as "fact_1"
order by "fact_1"."m1" desc nulls last
limit 50000;
-- ["2024-03-30T00:00:00.000000Z","2024-04-02T00:00:00.000000Z"]

-- clickhouse
select
  "fact_1"."m1" as "orders.count"
from (
  select
    count(*) as "m1"
  from orders as "orders"
  where ("orders".created_at >= {p1:DateTime64(6, 'UTC')} and "orders".created_at < {p2:DateTime64(6, 'UTC')})
) as "fact_1"
order by "fact_1"."m1" desc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["2024-03-30 00:00:00.000000","2024-04-02 00:00:00.000000"]

-- rows
-- ["4"]
