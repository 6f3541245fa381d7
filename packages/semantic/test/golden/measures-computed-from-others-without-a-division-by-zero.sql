-- measures computed from others, without a division by zero
-- {
--   "measures": [
--     "orders.paid_share",
--     "orders.spread",
--     "orders.last"
--   ],
--   "dimensions": [
--     "orders.status"
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."orders.status" as "orders.status",
  "fact_1"."m1"  / nullif("fact_1"."m2", 0) as "orders.paid_share",
  "fact_1"."m3" as "orders.spread",
  timezone($1::varchar, ("fact_1"."m4")::timestamptz) as "orders.last"
from (
  select
    "orders".status as "orders.status",
    sum(case when ("orders".is_paid) then "orders".amount end) as "m1",
    sum("orders".amount) as "m2",
    max("orders".amount) - min("orders".amount) as "m3",
    max("orders".created_at) as "m4"
  from orders as "orders"
  group by 1
) as "fact_1"
order by "fact_1"."m1"  / nullif("fact_1"."m2", 0) desc nulls last, ("fact_1"."orders.status")::varchar asc nulls last
limit 50000;
-- ["UTC"]

-- postgres
select
  "fact_1"."orders.status" as "orders.status",
  "fact_1"."m1"  / nullif(("fact_1"."m2")::numeric, 0) as "orders.paid_share",
  "fact_1"."m3" as "orders.spread",
  timezone($1::text, ("fact_1"."m4")::timestamptz) as "orders.last"
from (
  select
    "orders".status as "orders.status",
    sum(case when ("orders".is_paid) then "orders".amount end) as "m1",
    sum("orders".amount) as "m2",
    max("orders".amount) - min("orders".amount) as "m3",
    max("orders".created_at) as "m4"
  from orders as "orders"
  group by 1
) as "fact_1"
order by "fact_1"."m1"  / nullif(("fact_1"."m2")::numeric, 0) desc nulls last, ("fact_1"."orders.status")::text collate "C" asc nulls last
limit 50000;
-- ["UTC"]

-- clickhouse
select
  "fact_1"."orders.status" as "orders.status",
  "fact_1"."m1"  / nullif(toFloat64("fact_1"."m2"), 0) as "orders.paid_share",
  "fact_1"."m3" as "orders.spread",
  addSeconds(toDateTime64("fact_1"."m4", 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("fact_1"."m4", 6, 'UTC'), {p1:String}))) as "orders.last"
from (
  select
    "orders".status as "orders.status",
    sum(case when ("orders".is_paid) then "orders".amount end) as "m1",
    sum("orders".amount) as "m2",
    max("orders".amount) - min("orders".amount) as "m3",
    max("orders".created_at) as "m4"
  from orders as "orders"
  group by 1
) as "fact_1"
order by "fact_1"."m1"  / nullif(toFloat64("fact_1"."m2"), 0) desc nulls last, toString("fact_1"."orders.status") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["UTC"]

-- rows
-- ["open","1","100","2024-03-31 01:30:00"]
-- ["done","0.07578558226","229.5","2024-04-01 12:00:00"]
-- ["Open 50%",null,"0","2024-10-27 01:30:00"]
-- [null,null,null,"2024-10-27 00:30:00"]
