-- filters on time
-- {
--   "dimensions": [
--     "orders.id",
--     "orders.created_at"
--   ],
--   "filters": [
--     {
--       "member": "orders.created_at",
--       "operator": "afterOrOnDate",
--       "values": [
--         "2024-03-30"
--       ]
--     },
--     {
--       "member": "orders.created_at",
--       "operator": "beforeDate",
--       "values": [
--         "2024-10-27T03:00:00"
--       ]
--     },
--     {
--       "member": "orders.created_at",
--       "operator": "notInDateRange",
--       "values": [
--         "2024-03-30T23:00:00Z",
--         "2024-03-30T23:00:00Z"
--       ]
--     }
--   ],
--   "timezone": "Europe/Berlin"
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."orders.id" as "orders.id",
  "fact_1"."orders.created_at" as "orders.created_at"
from (
  select
    "orders".id as "orders.id",
    timezone($1::varchar, ("orders".created_at)::timestamptz) as "orders.created_at"
  from orders as "orders"
  where "orders".created_at >= $2::timestamptz
    and "orders".created_at < $3::timestamptz
    and ("orders".created_at < $4::timestamptz or "orders".created_at >= $5::timestamptz)
  group by 1, 2
) as "fact_1"
order by "fact_1"."orders.id" asc nulls last, "fact_1"."orders.created_at" asc nulls last
limit 50000;
-- ["UTC","2024-03-29T23:00:00.000000Z","2024-10-27T02:00:00.000000Z","2024-03-30T23:00:00.000000Z","2024-03-30T23:00:01.000000Z"]

-- postgres
select
  "fact_1"."orders.id" as "orders.id",
  "fact_1"."orders.created_at" as "orders.created_at"
from (
  select
    "orders".id as "orders.id",
    timezone($1::text, ("orders".created_at)::timestamptz) as "orders.created_at"
  from orders as "orders"
  where "orders".created_at >= $2::timestamptz
    and "orders".created_at < $3::timestamptz
    and ("orders".created_at < $4::timestamptz or "orders".created_at >= $5::timestamptz)
  group by 1, 2
) as "fact_1"
order by "fact_1"."orders.id" asc nulls last, "fact_1"."orders.created_at" asc nulls last
limit 50000;
-- ["UTC","2024-03-29T23:00:00.000000Z","2024-10-27T02:00:00.000000Z","2024-03-30T23:00:00.000000Z","2024-03-30T23:00:01.000000Z"]

-- clickhouse
select
  "fact_1"."orders.id" as "orders.id",
  "fact_1"."orders.created_at" as "orders.created_at"
from (
  select
    "orders".id as "orders.id",
    addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p1:String}))) as "orders.created_at"
  from orders as "orders"
  where "orders".created_at >= {p2:DateTime64(6, 'UTC')}
    and "orders".created_at < {p3:DateTime64(6, 'UTC')}
    and ("orders".created_at < {p4:DateTime64(6, 'UTC')} or "orders".created_at >= {p5:DateTime64(6, 'UTC')})
  group by 1, 2
) as "fact_1"
order by "fact_1"."orders.id" asc nulls last, "fact_1"."orders.created_at" asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["UTC","2024-03-29 23:00:00.000000","2024-10-27 02:00:00.000000","2024-03-30 23:00:00.000000","2024-03-30 23:00:01.000000"]

-- rows
-- ["1","2024-03-30 22:59:59.999999"]
-- ["3","2024-03-31 01:30:00"]
-- ["4","2024-04-01 12:00:00"]
-- ["5","2024-10-27 00:30:00"]
-- ["6","2024-10-27 01:30:00"]
