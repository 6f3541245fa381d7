-- the hour that clocks show twice
-- {
--   "measures": [
--     "orders.count"
--   ],
--   "timeDimensions": [
--     {
--       "dimension": "orders.created_at",
--       "granularity": "hour",
--       "dateRange": "2024-10-27"
--     }
--   ],
--   "timezone": "Europe/Berlin"
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."orders.created_at.hour" as "orders.created_at.hour",
  "fact_1"."m1" as "orders.count"
from (
  select
    date_trunc('hour', timezone($1::varchar, ("orders".created_at)::timestamptz)) as "orders.created_at.hour",
    count(*) as "m1"
  from orders as "orders"
  where ("orders".created_at >= $2::timestamptz and "orders".created_at < $3::timestamptz)
  group by 1
) as "fact_1"
order by "fact_1"."orders.created_at.hour" asc nulls last
limit 50000;
-- ["Europe/Berlin","2024-10-26T22:00:00.000000Z","2024-10-27T23:00:00.000000Z"]

-- postgres
select
  "fact_1"."orders.created_at.hour" as "orders.created_at.hour",
  "fact_1"."m1" as "orders.count"
from (
  select
    date_trunc('hour', timezone($1::text, ("orders".created_at)::timestamptz)) as "orders.created_at.hour",
    count(*) as "m1"
  from orders as "orders"
  where ("orders".created_at >= $2::timestamptz and "orders".created_at < $3::timestamptz)
  group by 1
) as "fact_1"
order by "fact_1"."orders.created_at.hour" asc nulls last
limit 50000;
-- ["Europe/Berlin","2024-10-26T22:00:00.000000Z","2024-10-27T23:00:00.000000Z"]

-- clickhouse
select
  "fact_1"."orders.created_at.hour" as "orders.created_at.hour",
  "fact_1"."m1" as "orders.count"
from (
  select
    toDateTime64(toStartOfHour(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p1:String})))), 6, 'UTC') as "orders.created_at.hour",
    count(*) as "m1"
  from orders as "orders"
  where ("orders".created_at >= {p2:DateTime64(6, 'UTC')} and "orders".created_at < {p3:DateTime64(6, 'UTC')})
  group by 1
) as "fact_1"
order by "fact_1"."orders.created_at.hour" asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["Europe/Berlin","2024-10-26 22:00:00.000000","2024-10-27 23:00:00.000000"]

-- rows
-- ["2024-10-27 02:00:00","2"]
