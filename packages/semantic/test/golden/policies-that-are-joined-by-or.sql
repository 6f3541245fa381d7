-- policies that are joined by or
-- {
--   "measures": [
--     "tickets.count"
--   ]
-- }
-- viewer: {"groups":[],"tenantGroups":[],"roles":[],"userAttributes":{"hidden_kinds":"bug"},"securityContext":{}}

-- duckdb
select
  "fact_1"."m1" as "tickets.count"
from (
  select
    count(*) as "m1"
  from tickets as "tickets"
  where ("tickets".kind)::varchar <> $1::varchar
) as "fact_1"
order by "fact_1"."m1" desc nulls last
limit 50000;
-- ["bug"]

-- postgres
select
  "fact_1"."m1" as "tickets.count"
from (
  select
    count(*) as "m1"
  from tickets as "tickets"
  where ("tickets".kind)::text <> $1::text
) as "fact_1"
order by "fact_1"."m1" desc nulls last
limit 50000;
-- ["bug"]

-- clickhouse
select
  "fact_1"."m1" as "tickets.count"
from (
  select
    count(*) as "m1"
  from tickets as "tickets"
  where toString("tickets".kind) <> {p1:String}
) as "fact_1"
order by "fact_1"."m1" desc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["bug"]

-- rows
-- ["1"]
