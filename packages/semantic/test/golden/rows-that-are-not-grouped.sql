-- rows that are not grouped
-- {
--   "dimensions": [
--     "orders.id",
--     "items.product"
--   ],
--   "measures": [
--     "items.quantity",
--     "orders.count",
--     "orders.paid_share"
--   ],
--   "ungrouped": true,
--   "order": [
--     [
--       "orders.id",
--       "desc"
--     ]
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "orders".id as "orders.id",
  "items".product as "items.product",
  "items".quantity as "items.quantity",
  case when "orders".id is not null then 1 else 0 end as "orders.count",
  (case when ("orders".is_paid) then "orders".amount end)  / nullif(("orders".amount), 0) as "orders.paid_share"
from (
select * from items where not deleted
) as "items"
left join orders as "orders" on "orders".id = "items".order_id
order by "orders".id desc nulls last, ("items".product)::varchar asc nulls last
limit 50000;
-- []

-- postgres
select
  "orders".id as "orders.id",
  "items".product as "items.product",
  "items".quantity as "items.quantity",
  case when "orders".id is not null then 1 else 0 end as "orders.count",
  (case when ("orders".is_paid) then "orders".amount end)  / nullif((("orders".amount))::numeric, 0) as "orders.paid_share"
from (
select * from items where not deleted
) as "items"
left join orders as "orders" on "orders".id = "items".order_id
order by "orders".id desc nulls last, ("items".product)::text collate "C" asc nulls last
limit 50000;
-- []

-- clickhouse
select
  "orders".id as "orders.id",
  "items".product as "items.product",
  "items".quantity as "items.quantity",
  case when "orders".id is not null then 1 else 0 end as "orders.count",
  (case when ("orders".is_paid) then "orders".amount end)  / nullif(toFloat64(("orders".amount)), 0) as "orders.paid_share"
from (
select * from items where not deleted
) as "items"
left join orders as "orders" on "orders".id = "items".order_id
order by "orders".id desc nulls last, toString("items".product) asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- []

-- rows
-- ["4","pen","1","1",null]
-- ["2","pen","5","1","1"]
-- ["1","ink","1","1","1"]
-- ["1","pen","2","1","1"]
