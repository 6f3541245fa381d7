-- a join that multiplies rows
-- {
--   "measures": [
--     "orders.count",
--     "orders.revenue"
--   ],
--   "dimensions": [
--     "items.product"
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."items.product" as "items.product",
  "fact_1"."m1" as "orders.count",
  "fact_1"."m2" as "orders.revenue"
from (
  select
    "rows"."items.product" as "items.product",
    count(*) as "m1",
    sum("rows"."m2") as "m2"
  from (
    select distinct
      "items".product as "items.product",
      "orders".id as "id",
      "orders".amount as "m2"
    from orders as "orders"
    left join (
select * from items where not deleted
    ) as "items" on "orders".id = "items".order_id
  ) as "rows"
  group by 1
) as "fact_1"
order by "fact_1"."m1" desc nulls last, ("fact_1"."items.product")::varchar asc nulls last
limit 50000;
-- []

-- postgres
select
  "fact_1"."items.product" as "items.product",
  "fact_1"."m1" as "orders.count",
  "fact_1"."m2" as "orders.revenue"
from (
  select
    "rows"."items.product" as "items.product",
    count(*) as "m1",
    sum("rows"."m2") as "m2"
  from (
    select distinct
      "items".product as "items.product",
      "orders".id as "id",
      "orders".amount as "m2"
    from orders as "orders"
    left join (
select * from items where not deleted
    ) as "items" on "orders".id = "items".order_id
  ) as "rows"
  group by 1
) as "fact_1"
order by "fact_1"."m1" desc nulls last, ("fact_1"."items.product")::text collate "C" asc nulls last
limit 50000;
-- []

-- clickhouse
select
  "fact_1"."items.product" as "items.product",
  "fact_1"."m1" as "orders.count",
  "fact_1"."m2" as "orders.revenue"
from (
  select
    "rows"."items.product" as "items.product",
    count(*) as "m1",
    sum("rows"."m2") as "m2"
  from (
    select distinct
      "items".product as "items.product",
      "orders".id as "id",
      "orders".amount as "m2"
    from orders as "orders"
    left join (
select * from items where not deleted
    ) as "items" on "orders".id = "items".order_id
  ) as "rows"
  group by 1
) as "fact_1"
order by "fact_1"."m1" desc nulls last, toString("fact_1"."items.product") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- []

-- rows
-- ["pen","3","370.5"]
-- [null,"3","7.25"]
-- ["ink","1","100"]
