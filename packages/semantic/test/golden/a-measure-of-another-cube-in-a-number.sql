-- a measure of another cube in a number
-- {
--   "measures": [
--     "orders.per_ticket"
--   ],
--   "dimensions": [
--     "customers.region"
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  coalesce("fact_1"."customers.region", "fact_2"."customers.region") as "customers.region",
  "fact_1"."m1"  / nullif(coalesce("fact_2"."m1", 0), 0) as "orders.per_ticket"
from (
  select
    "customers".region as "customers.region",
    sum("orders".amount) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
  group by 1
) as "fact_1"
full join (
  select
    "customers".region as "customers.region",
    count(*) as "m1"
  from tickets as "tickets"
  left join customers as "customers" on "tickets".customer_id = "customers".id
  group by 1
) as "fact_2" on coalesce(("fact_1"."customers.region")::varchar, '') = coalesce(("fact_2"."customers.region")::varchar, '') and ("fact_1"."customers.region" is null) = ("fact_2"."customers.region" is null)
order by "fact_1"."m1"  / nullif(coalesce("fact_2"."m1", 0), 0) desc nulls last, (coalesce("fact_1"."customers.region", "fact_2"."customers.region"))::varchar asc nulls last
limit 50000;
-- []

-- postgres
select
  coalesce("fact_1"."customers.region", "fact_2"."customers.region") as "customers.region",
  "fact_1"."m1"  / nullif((coalesce("fact_2"."m1", 0))::numeric, 0) as "orders.per_ticket"
from (
  select
    "customers".region as "customers.region",
    sum("orders".amount) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
  group by 1
) as "fact_1"
full join (
  select
    "customers".region as "customers.region",
    count(*) as "m1"
  from tickets as "tickets"
  left join customers as "customers" on "tickets".customer_id = "customers".id
  group by 1
) as "fact_2" on coalesce(("fact_1"."customers.region")::text, '') = coalesce(("fact_2"."customers.region")::text, '') and ("fact_1"."customers.region" is null) = ("fact_2"."customers.region" is null)
order by "fact_1"."m1"  / nullif((coalesce("fact_2"."m1", 0))::numeric, 0) desc nulls last, (coalesce("fact_1"."customers.region", "fact_2"."customers.region"))::text collate "C" asc nulls last
limit 50000;
-- []

-- clickhouse
select
  coalesce("fact_1"."customers.region", "fact_2"."customers.region") as "customers.region",
  "fact_1"."m1"  / nullif(toFloat64(coalesce("fact_2"."m1", 0)), 0) as "orders.per_ticket"
from (
  select
    "customers".region as "customers.region",
    sum("orders".amount) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
  group by 1
) as "fact_1"
full join (
  select
    "customers".region as "customers.region",
    count(*) as "m1"
  from tickets as "tickets"
  left join customers as "customers" on "tickets".customer_id = "customers".id
  group by 1
) as "fact_2" on coalesce(toString("fact_1"."customers.region"), '') = coalesce(toString("fact_2"."customers.region"), '') and ("fact_1"."customers.region" is null) = ("fact_2"."customers.region" is null)
order by "fact_1"."m1"  / nullif(toFloat64(coalesce("fact_2"."m1", 0)), 0) desc nulls last, toString(coalesce("fact_1"."customers.region", "fact_2"."customers.region")) asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- []

-- rows
-- ["eu","60.25"]
-- [null,"3.625"]
-- ["us",null]
