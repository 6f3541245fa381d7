-- filters on measures beside filters on dimensions
-- {
--   "measures": [
--     "orders.count"
--   ],
--   "dimensions": [
--     "orders.status"
--   ],
--   "filters": [
--     {
--       "and": [
--         {
--           "member": "orders.amount",
--           "operator": "set"
--         },
--         {
--           "member": "orders.revenue",
--           "operator": "gt",
--           "values": [
--             "50"
--           ]
--         }
--       ]
--     },
--     {
--       "or": [
--         {
--           "member": "orders.count",
--           "operator": "equals",
--           "values": [
--             "1"
--           ]
--         },
--         {
--           "member": "orders.last",
--           "operator": "afterDate",
--           "values": [
--             "2024-03-31"
--           ]
--         }
--       ]
--     }
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."orders.status" as "orders.status",
  "fact_1"."m1" as "orders.count"
from (
  select
    "orders".status as "orders.status",
    count(*) as "m1",
    sum("orders".amount) as "m2",
    max("orders".created_at) as "m3"
  from orders as "orders"
  where "orders".amount is not null
  group by 1
) as "fact_1"
where "fact_1"."m2" > $1::bigint
  and ("fact_1"."m1" = $2::bigint or "fact_1"."m3" >= $3::timestamptz)
order by "fact_1"."m1" desc nulls last, ("fact_1"."orders.status")::varchar asc nulls last
limit 50000;
-- ["50","1","2024-04-01T00:00:00.000000Z"]

-- postgres
select
  "fact_1"."orders.status" as "orders.status",
  "fact_1"."m1" as "orders.count"
from (
  select
    "orders".status as "orders.status",
    count(*) as "m1",
    sum("orders".amount) as "m2",
    max("orders".created_at) as "m3"
  from orders as "orders"
  where "orders".amount is not null
  group by 1
) as "fact_1"
where "fact_1"."m2" > $1::bigint
  and ("fact_1"."m1" = $2::bigint or "fact_1"."m3" >= $3::timestamptz)
order by "fact_1"."m1" desc nulls last, ("fact_1"."orders.status")::text collate "C" asc nulls last
limit 50000;
-- ["50","1","2024-04-01T00:00:00.000000Z"]

-- clickhouse
select
  "fact_1"."orders.status" as "orders.status",
  "fact_1"."m1" as "orders.count"
from (
  select
    "orders".status as "orders.status",
    count(*) as "m1",
    sum("orders".amount) as "m2",
    max("orders".created_at) as "m3"
  from orders as "orders"
  where "orders".amount is not null
  group by 1
) as "fact_1"
where "fact_1"."m2" > {p1:Int64}
  and ("fact_1"."m1" = {p2:Int64} or "fact_1"."m3" >= {p3:DateTime64(6, 'UTC')})
order by "fact_1"."m1" desc nulls last, toString("fact_1"."orders.status") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["50","1","2024-04-01 00:00:00.000000"]

-- rows
-- ["done","2"]
