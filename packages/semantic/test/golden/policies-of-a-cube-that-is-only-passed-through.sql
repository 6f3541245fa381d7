-- policies of a cube that is only passed through
-- {
--   "measures": [
--     "orders.count"
--   ],
--   "dimensions": [
--     "countries.name"
--   ]
-- }
-- viewer: {"groups":["sales"],"tenantGroups":[],"roles":[],"userAttributes":{"regions":["eu","us"]},"securityContext":{}}

-- duckdb
select
  "fact_1"."countries.name" as "countries.name",
  "fact_1"."m1" as "orders.count"
from (
  select
    "countries".name as "countries.name",
    count(*) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
  left join countries as "countries" on "customers".country_id = "countries".id
  where ("customers".region)::varchar in ($1::varchar, $2::varchar)
  group by 1
) as "fact_1"
order by "fact_1"."m1" desc nulls last, ("fact_1"."countries.name")::varchar asc nulls last
limit 50000;
-- ["eu","us"]

-- postgres
select
  "fact_1"."countries.name" as "countries.name",
  "fact_1"."m1" as "orders.count"
from (
  select
    "countries".name as "countries.name",
    count(*) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
  left join countries as "countries" on "customers".country_id = "countries".id
  where ("customers".region)::text in ($1::text, $2::text)
  group by 1
) as "fact_1"
order by "fact_1"."m1" desc nulls last, ("fact_1"."countries.name")::text collate "C" asc nulls last
limit 50000;
-- ["eu","us"]

-- clickhouse
select
  "fact_1"."countries.name" as "countries.name",
  "fact_1"."m1" as "orders.count"
from (
  select
    "countries".name as "countries.name",
    count(*) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
  left join countries as "countries" on "customers".country_id = "countries".id
  where toString("customers".region) in ({p1:String}, {p2:String})
  group by 1
) as "fact_1"
order by "fact_1"."m1" desc nulls last, toString("fact_1"."countries.name") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["eu","us"]

-- rows
-- ["Austria","2"]
-- ["Peru","1"]
-- [null,"1"]
