-- ids that a double cannot tell apart
-- {
--   "dimensions": [
--     "customers.id",
--     "customers.name"
--   ],
--   "filters": [
--     {
--       "member": "customers.id",
--       "operator": "equals",
--       "values": [
--         "9007199254740993"
--       ]
--     }
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."customers.id" as "customers.id",
  "fact_1"."customers.name" as "customers.name"
from (
  select
    "customers".id as "customers.id",
    "customers".name as "customers.name"
  from customers as "customers"
  where "customers".id = $1::bigint
  group by 1, 2
) as "fact_1"
order by "fact_1"."customers.id" asc nulls last, ("fact_1"."customers.name")::varchar asc nulls last
limit 50000;
-- ["9007199254740993"]

-- postgres
select
  "fact_1"."customers.id" as "customers.id",
  "fact_1"."customers.name" as "customers.name"
from (
  select
    "customers".id as "customers.id",
    "customers".name as "customers.name"
  from customers as "customers"
  where "customers".id = $1::bigint
  group by 1, 2
) as "fact_1"
order by "fact_1"."customers.id" asc nulls last, ("fact_1"."customers.name")::text collate "C" asc nulls last
limit 50000;
-- ["9007199254740993"]

-- clickhouse
select
  "fact_1"."customers.id" as "customers.id",
  "fact_1"."customers.name" as "customers.name"
from (
  select
    "customers".id as "customers.id",
    "customers".name as "customers.name"
  from customers as "customers"
  where "customers".id = {p1:Int64}
  group by 1, 2
) as "fact_1"
order by "fact_1"."customers.id" asc nulls last, toString("fact_1"."customers.name") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["9007199254740993"]

-- rows
-- ["9007199254740993","Ada"]
