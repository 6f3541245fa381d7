-- order, limit, offset and total
-- {
--   "dimensions": [
--     "orders.id"
--   ],
--   "measures": [
--     "orders.revenue"
--   ],
--   "order": {
--     "orders.revenue": "asc"
--   },
--   "limit": 2,
--   "offset": 1,
--   "total": true
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."orders.id" as "orders.id",
  "fact_1"."m1" as "orders.revenue"
from (
  select
    "orders".id as "orders.id",
    sum("orders".amount) as "m1"
  from orders as "orders"
  group by 1
) as "fact_1"
order by "fact_1"."m1" asc nulls last, "fact_1"."orders.id" asc nulls last
limit 2
offset 1;
-- []

-- duckdb
select
  count(*) as "total"
from (
  select
    "fact_1"."orders.id" as "orders.id",
    "fact_1"."m1" as "orders.revenue"
  from (
    select
      "orders".id as "orders.id",
      sum("orders".amount) as "m1"
    from orders as "orders"
    group by 1
  ) as "fact_1"
) as "rows";
-- []

-- postgres
select
  "fact_1"."orders.id" as "orders.id",
  "fact_1"."m1" as "orders.revenue"
from (
  select
    "orders".id as "orders.id",
    sum("orders".amount) as "m1"
  from orders as "orders"
  group by 1
) as "fact_1"
order by "fact_1"."m1" asc nulls last, "fact_1"."orders.id" asc nulls last
limit 2
offset 1;
-- []

-- postgres
select
  count(*) as "total"
from (
  select
    "fact_1"."orders.id" as "orders.id",
    "fact_1"."m1" as "orders.revenue"
  from (
    select
      "orders".id as "orders.id",
      sum("orders".amount) as "m1"
    from orders as "orders"
    group by 1
  ) as "fact_1"
) as "rows";
-- []

-- clickhouse
select
  "fact_1"."orders.id" as "orders.id",
  "fact_1"."m1" as "orders.revenue"
from (
  select
    "orders".id as "orders.id",
    sum("orders".amount) as "m1"
  from orders as "orders"
  group by 1
) as "fact_1"
order by "fact_1"."m1" asc nulls last, "fact_1"."orders.id" asc nulls last
limit 2
offset 1
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- []

-- clickhouse
select
  count(*) as "total"
from (
  select
    "fact_1"."orders.id" as "orders.id",
    "fact_1"."m1" as "orders.revenue"
  from (
    select
      "orders".id as "orders.id",
      sum("orders".amount) as "m1"
    from orders as "orders"
    group by 1
  ) as "fact_1"
) as "rows"
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- []

-- rows
-- ["6","7.25"]
-- ["2","20.5"]

-- rows
-- ["6"]
