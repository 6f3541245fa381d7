-- measures by dimensions
-- {
--   "measures": [
--     "orders.count",
--     "orders.revenue",
--     "orders.buyers"
--   ],
--   "dimensions": [
--     "orders.status",
--     "orders.size"
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."orders.status" as "orders.status",
  "fact_1"."orders.size" as "orders.size",
  "fact_1"."m1" as "orders.count",
  "fact_1"."m2" as "orders.revenue",
  "fact_1"."m3" as "orders.buyers"
from (
  select
    "orders".status as "orders.status",
    case when "orders".amount >= 100 then $1::varchar when "orders".amount is null then "orders".status else $2::varchar end as "orders.size",
    count(*) as "m1",
    sum("orders".amount) as "m2",
    count(distinct "orders".customer_id) as "m3"
  from orders as "orders"
  group by 1, 2
) as "fact_1"
order by "fact_1"."m1" desc nulls last, ("fact_1"."orders.status")::varchar asc nulls last, ("fact_1"."orders.size")::varchar asc nulls last
limit 50000;
-- ["large","small"]

-- postgres
select
  "fact_1"."orders.status" as "orders.status",
  "fact_1"."orders.size" as "orders.size",
  "fact_1"."m1" as "orders.count",
  "fact_1"."m2" as "orders.revenue",
  "fact_1"."m3" as "orders.buyers"
from (
  select
    "orders".status as "orders.status",
    case when "orders".amount >= 100 then $1::text when "orders".amount is null then "orders".status else $2::text end as "orders.size",
    count(*) as "m1",
    sum("orders".amount) as "m2",
    count(distinct "orders".customer_id) as "m3"
  from orders as "orders"
  group by 1, 2
) as "fact_1"
order by "fact_1"."m1" desc nulls last, ("fact_1"."orders.status")::text collate "C" asc nulls last, ("fact_1"."orders.size")::text collate "C" asc nulls last
limit 50000;
-- ["large","small"]

-- clickhouse
select
  "fact_1"."orders.status" as "orders.status",
  "fact_1"."orders.size" as "orders.size",
  "fact_1"."m1" as "orders.count",
  "fact_1"."m2" as "orders.revenue",
  "fact_1"."m3" as "orders.buyers"
from (
  select
    "orders".status as "orders.status",
    case when "orders".amount >= 100 then {p1:String} when "orders".amount is null then "orders".status else {p2:String} end as "orders.size",
    count(*) as "m1",
    sum("orders".amount) as "m2",
    count(distinct "orders".customer_id) as "m3"
  from orders as "orders"
  group by 1, 2
) as "fact_1"
order by "fact_1"."m1" desc nulls last, toString("fact_1"."orders.status") asc nulls last, toString("fact_1"."orders.size") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["large","small"]

-- rows
-- ["Open 50%","small","1","7.25","1"]
-- ["done","large","1","250","1"]
-- ["done","small","1","20.5","1"]
-- ["open","large","1","100","1"]
-- ["open","small","1","0","1"]
-- [null,null,"1",null,"0"]
