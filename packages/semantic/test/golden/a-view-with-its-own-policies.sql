-- a view with its own policies
-- {
--   "measures": [
--     "sales.revenue",
--     "sales.customers"
--   ],
--   "dimensions": [
--     "sales.countries_name"
--   ],
--   "segments": [
--     "sales.open"
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  coalesce("fact_1"."sales.countries_name", "fact_2"."sales.countries_name") as "sales.countries_name",
  "fact_1"."m1" as "sales.revenue",
  coalesce("fact_2"."m1", 0) as "sales.customers"
from (
  select
    "countries".name as "sales.countries_name",
    sum("orders".amount) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
  left join countries as "countries" on "customers".country_id = "countries".id
  where case when "orders".status is not null then ("orders".status = 'open' or "orders".status is null) end
    and "orders".status is not null
  group by 1
) as "fact_1"
full join (
  select
    "rows"."sales.countries_name" as "sales.countries_name",
    count("rows"."m1") as "m1"
  from (
    select distinct
      "countries".name as "sales.countries_name",
      "customers".id as "id",
      "customers".id as "m1"
    from orders as "orders"
    left join customers as "customers" on "orders".customer_id = "customers".id
    left join countries as "countries" on "customers".country_id = "countries".id
    where case when "orders".status is not null then ("orders".status = 'open' or "orders".status is null) end
      and "orders".status is not null
  ) as "rows"
  group by 1
) as "fact_2" on coalesce(("fact_1"."sales.countries_name")::varchar, '') = coalesce(("fact_2"."sales.countries_name")::varchar, '') and ("fact_1"."sales.countries_name" is null) = ("fact_2"."sales.countries_name" is null)
order by "fact_1"."m1" desc nulls last, (coalesce("fact_1"."sales.countries_name", "fact_2"."sales.countries_name"))::varchar asc nulls last
limit 50000;
-- []

-- postgres
select
  coalesce("fact_1"."sales.countries_name", "fact_2"."sales.countries_name") as "sales.countries_name",
  "fact_1"."m1" as "sales.revenue",
  coalesce("fact_2"."m1", 0) as "sales.customers"
from (
  select
    "countries".name as "sales.countries_name",
    sum("orders".amount) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
  left join countries as "countries" on "customers".country_id = "countries".id
  where case when "orders".status is not null then ("orders".status = 'open' or "orders".status is null) end
    and "orders".status is not null
  group by 1
) as "fact_1"
full join (
  select
    "rows"."sales.countries_name" as "sales.countries_name",
    count("rows"."m1") as "m1"
  from (
    select distinct
      "countries".name as "sales.countries_name",
      "customers".id as "id",
      "customers".id as "m1"
    from orders as "orders"
    left join customers as "customers" on "orders".customer_id = "customers".id
    left join countries as "countries" on "customers".country_id = "countries".id
    where case when "orders".status is not null then ("orders".status = 'open' or "orders".status is null) end
      and "orders".status is not null
  ) as "rows"
  group by 1
) as "fact_2" on coalesce(("fact_1"."sales.countries_name")::text, '') = coalesce(("fact_2"."sales.countries_name")::text, '') and ("fact_1"."sales.countries_name" is null) = ("fact_2"."sales.countries_name" is null)
order by "fact_1"."m1" desc nulls last, (coalesce("fact_1"."sales.countries_name", "fact_2"."sales.countries_name"))::text collate "C" asc nulls last
limit 50000;
-- []

-- clickhouse
select
  coalesce("fact_1"."sales.countries_name", "fact_2"."sales.countries_name") as "sales.countries_name",
  "fact_1"."m1" as "sales.revenue",
  coalesce("fact_2"."m1", 0) as "sales.customers"
from (
  select
    "countries".name as "sales.countries_name",
    sum("orders".amount) as "m1"
  from orders as "orders"
  left join customers as "customers" on "orders".customer_id = "customers".id
  left join countries as "countries" on "customers".country_id = "countries".id
  array join if(case when "orders".status is not null then ("orders".status = 'open' or "orders".status is null) end, [1], []) as oriel_kept
  where "orders".status is not null
  group by 1
) as "fact_1"
full join (
  select
    "rows"."sales.countries_name" as "sales.countries_name",
    count("rows"."m1") as "m1"
  from (
    select distinct
      "countries".name as "sales.countries_name",
      "customers".id as "id",
      "customers".id as "m1"
    from orders as "orders"
    left join customers as "customers" on "orders".customer_id = "customers".id
    left join countries as "countries" on "customers".country_id = "countries".id
    array join if(case when "orders".status is not null then ("orders".status = 'open' or "orders".status is null) end, [1], []) as oriel_kept
    where "orders".status is not null
  ) as "rows"
  group by 1
) as "fact_2" on coalesce(toString("fact_1"."sales.countries_name"), '') = coalesce(toString("fact_2"."sales.countries_name"), '') and ("fact_1"."sales.countries_name" is null) = ("fact_2"."sales.countries_name" is null)
order by "fact_1"."m1" desc nulls last, toString(coalesce("fact_1"."sales.countries_name", "fact_2"."sales.countries_name")) asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- []

-- rows
-- ["Austria","100","1"]
-- [null,"0","1"]
