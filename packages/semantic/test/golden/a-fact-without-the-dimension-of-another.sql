-- a fact without the dimension of another
-- {
--   "measures": [
--     "orders.count",
--     "tickets.count"
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  coalesce("fact_1"."m1", 0) as "orders.count",
  coalesce("fact_2"."m1", 0) as "tickets.count"
from (
  select
    count(*) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
) as "fact_1"
cross join (
  select
    count(*) as "m1"
  from tickets as "tickets"
  left join customers as "customers" on "tickets".customer_id = "customers".id
) as "fact_2"
order by coalesce("fact_1"."m1", 0) desc nulls last
limit 50000;
-- []

-- postgres
select
  coalesce("fact_1"."m1", 0) as "orders.count",
  coalesce("fact_2"."m1", 0) as "tickets.count"
from (
  select
    count(*) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
) as "fact_1"
cross join (
  select
    count(*) as "m1"
  from tickets as "tickets"
  left join customers as "customers" on "tickets".customer_id = "customers".id
) as "fact_2"
order by coalesce("fact_1"."m1", 0) desc nulls last
limit 50000;
-- []

-- clickhouse
select
  coalesce("fact_1"."m1", 0) as "orders.count",
  coalesce("fact_2"."m1", 0) as "tickets.count"
from (
  select
    count(*) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
) as "fact_1"
cross join (
  select
    count(*) as "m1"
  from tickets as "tickets"
  left join customers as "customers" on "tickets".customer_id = "customers".id
) as "fact_2"
order by coalesce("fact_1"."m1", 0) desc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- []

-- rows
-- ["6","4"]
