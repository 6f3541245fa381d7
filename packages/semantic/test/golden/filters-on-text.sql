-- filters on text
-- {
--   "dimensions": [
--     "orders.id"
--   ],
--   "filters": [
--     {
--       "or": [
--         {
--           "member": "orders.status",
--           "operator": "contains",
--           "values": [
--             "50%",
--             "E_"
--           ]
--         },
--         {
--           "member": "orders.status",
--           "operator": "equals",
--           "values": [
--             "done",
--             null
--           ]
--         }
--       ]
--     },
--     {
--       "member": "orders.status",
--       "operator": "notStartsWith",
--       "values": [
--         "x"
--       ]
--     },
--     {
--       "member": "orders.status",
--       "operator": "notEquals",
--       "values": [
--         "' or true --"
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
  where ((("orders".status)::varchar ilike $1::varchar escape '\' or ("orders".status)::varchar ilike $2::varchar escape '\') or (("orders".status)::varchar = $3::varchar or ("orders".status)::varchar is null))
    and (not ("orders".status)::varchar ilike $4::varchar escape '\' or "orders".status is null)
    and (("orders".status)::varchar <> $5::varchar or ("orders".status)::varchar is null)
  group by 1
) as "fact_1"
order by "fact_1"."orders.id" asc nulls last
limit 50000;
-- ["%50\\%%","%E\\_%","done","x%","' or true --"]

-- postgres
select
  "fact_1"."orders.id" as "orders.id"
from (
  select
    "orders".id as "orders.id"
  from orders as "orders"
  where ((("orders".status)::text ilike $1::text or ("orders".status)::text ilike $2::text) or (("orders".status)::text = $3::text or ("orders".status)::text is null))
    and (not ("orders".status)::text ilike $4::text or "orders".status is null)
    and (("orders".status)::text <> $5::text or ("orders".status)::text is null)
  group by 1
) as "fact_1"
order by "fact_1"."orders.id" asc nulls last
limit 50000;
-- ["%50\\%%","%E\\_%","done","x%","' or true --"]

-- clickhouse
select
  "fact_1"."orders.id" as "orders.id"
from (
  select
    "orders".id as "orders.id"
  from orders as "orders"
  where ((toString("orders".status) ilike {p1:String} or toString("orders".status) ilike {p2:String}) or (toString("orders".status) = {p3:String} or toString("orders".status) is null))
    and (not toString("orders".status) ilike {p4:String} or "orders".status is null)
    and (toString("orders".status) <> {p5:String} or toString("orders".status) is null)
  group by 1
) as "fact_1"
order by "fact_1"."orders.id" asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["%50\\%%","%E\\_%","done","x%","' or true --"]

-- rows
-- ["2"]
-- ["4"]
-- ["5"]
-- ["6"]
