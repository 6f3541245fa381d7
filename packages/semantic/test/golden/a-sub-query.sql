-- a sub-query
-- {
--   "measures": [
--     "customers.count"
--   ],
--   "dimensions": [
--     "customers.orders_count"
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."customers.orders_count" as "customers.orders_count",
  "fact_1"."m1" as "customers.count"
from (
  select
    coalesce("customers_orders_count"."m1", 0) as "customers.orders_count",
    count(*) as "m1"
  from customers as "customers"
  left join (
    select
      "fact_1"."k1" as "k1",
      "fact_1"."m1" as "m1"
    from (
      select
        "customers".id as "k1",
        count(*) as "m1"
      from orders as "orders"
      left join customers as "customers" on "orders".customer_id = "customers".id
      group by 1
    ) as "fact_1"
  ) as "customers_orders_count" on "customers".id = "customers_orders_count"."k1"
  group by 1
) as "fact_1"
order by "fact_1"."m1" desc nulls last, "fact_1"."customers.orders_count" asc nulls last
limit 50000;
-- []

-- postgres
select
  "fact_1"."customers.orders_count" as "customers.orders_count",
  "fact_1"."m1" as "customers.count"
from (
  select
    coalesce("customers_orders_count"."m1", 0) as "customers.orders_count",
    count(*) as "m1"
  from customers as "customers"
  left join (
    select
      "fact_1"."k1" as "k1",
      "fact_1"."m1" as "m1"
    from (
      select
        "customers".id as "k1",
        count(*) as "m1"
      from orders as "orders"
      left join customers as "customers" on "orders".customer_id = "customers".id
      group by 1
    ) as "fact_1"
  ) as "customers_orders_count" on "customers".id = "customers_orders_count"."k1"
  group by 1
) as "fact_1"
order by "fact_1"."m1" desc nulls last, "fact_1"."customers.orders_count" asc nulls last
limit 50000;
-- []

-- clickhouse
select
  "fact_1"."customers.orders_count" as "customers.orders_count",
  "fact_1"."m1" as "customers.count"
from (
  select
    coalesce("customers_orders_count"."m1", 0) as "customers.orders_count",
    count(*) as "m1"
  from customers as "customers"
  left join (
    select
      "fact_1"."k1" as "k1",
      "fact_1"."m1" as "m1"
    from (
      select
        "customers".id as "k1",
        count(*) as "m1"
      from orders as "orders"
      left join customers as "customers" on "orders".customer_id = "customers".id
      group by 1
    ) as "fact_1"
  ) as "customers_orders_count" on "customers".id = "customers_orders_count"."k1"
  group by 1
) as "fact_1"
order by "fact_1"."m1" desc nulls last, "fact_1"."customers.orders_count" asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- []

-- rows
-- ["1","3"]
-- ["2","1"]
