-- filters on numbers and truth
-- {
--   "dimensions": [
--     "orders.id"
--   ],
--   "filters": [
--     {
--       "member": "orders.amount",
--       "operator": "gte",
--       "values": [
--         "7.25"
--       ]
--     },
--     {
--       "member": "orders.amount",
--       "operator": "lt",
--       "values": [
--         "1e300"
--       ]
--     },
--     {
--       "or": [
--         {
--           "member": "orders.is_paid",
--           "operator": "equals",
--           "values": [
--             "true"
--           ]
--         },
--         {
--           "member": "orders.is_paid",
--           "operator": "notSet"
--         }
--       ]
--     }
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."orders.id" as "orders.id"
from (
  select
    "orders".id as "orders.id"
  from orders as "orders"
  where "orders".amount >= $1::decimal(3, 2)
    and "orders".amount < $2::double
    and ("orders".is_paid = $3::boolean or "orders".is_paid is null)
  group by 1
) as "fact_1"
order by "fact_1"."orders.id" asc nulls last
limit 50000;
-- ["7.25","1e300","true"]

-- postgres
select
  "fact_1"."orders.id" as "orders.id"
from (
  select
    "orders".id as "orders.id"
  from orders as "orders"
  where "orders".amount >= $1::numeric
    and "orders".amount < $2::double precision
    and ("orders".is_paid = $3::boolean or "orders".is_paid is null)
  group by 1
) as "fact_1"
order by "fact_1"."orders.id" asc nulls last
limit 50000;
-- ["7.25","1e300","true"]

-- clickhouse
select
  "fact_1"."orders.id" as "orders.id"
from (
  select
    "orders".id as "orders.id"
  from orders as "orders"
  where "orders".amount >= {p1:Decimal(76, 2)}
    and "orders".amount < {p2:Float64}
    and ("orders".is_paid = {p3:Bool} or "orders".is_paid is null)
  group by 1
) as "fact_1"
order by "fact_1"."orders.id" asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["7.25","1e300","true"]

-- rows
-- ["1"]
-- ["2"]
-- ["4"]
