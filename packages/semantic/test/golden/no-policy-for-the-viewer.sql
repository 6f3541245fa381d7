-- no policy for the viewer
-- {
--   "dimensions": [
--     "customers.name"
--   ]
-- }
-- viewer: {"groups":[],"tenantGroups":[],"roles":[],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."customers.name" as "customers.name"
from (
  select
    "customers".name as "customers.name"
  from customers as "customers"
  where false
  group by 1
) as "fact_1"
order by ("fact_1"."customers.name")::varchar asc nulls last
limit 50000;
-- []

-- postgres
select
  "fact_1"."customers.name" as "customers.name"
from (
  select
    "customers".name as "customers.name"
  from customers as "customers"
  where false
  group by 1
) as "fact_1"
order by ("fact_1"."customers.name")::text collate "C" asc nulls last
limit 50000;
-- []

-- clickhouse
select
  "fact_1"."customers.name" as "customers.name"
from (
  select
    "customers".name as "customers.name"
  from customers as "customers"
  where false
  group by 1
) as "fact_1"
order by toString("fact_1"."customers.name") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- []

-- rows
