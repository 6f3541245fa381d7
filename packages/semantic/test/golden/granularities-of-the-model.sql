-- granularities of the model
-- {
--   "measures": [
--     "orders.count"
--   ],
--   "dimensions": [
--     "orders.created_at.fiscal_year",
--     "orders.created_at.sprint",
--     "orders.created_at.half_month"
--   ]
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "fact_1"."orders.created_at.fiscal_year" as "orders.created_at.fiscal_year",
  "fact_1"."orders.created_at.sprint" as "orders.created_at.sprint",
  "fact_1"."orders.created_at.half_month" as "orders.created_at.half_month",
  "fact_1"."m1" as "orders.count"
from (
  select
    (timestamp '2000-01-01' + to_months((3 + 12 * floor(((extract(year from timezone($1::varchar, ("orders".created_at)::timestamptz)) - 2000) * 12 + extract(month from timezone($1::varchar, ("orders".created_at)::timestamptz)) - 1 - 3) / 12))::int)) as "orders.created_at.fiscal_year",
    time_bucket(to_seconds(1209600), timezone($1::varchar, ("orders".created_at)::timestamptz), $2::timestamp) as "orders.created_at.sprint",
    ((timestamp '2000-01-01' + to_months((0 + 1 * floor(((extract(year from (timezone($1::varchar, ("orders".created_at)::timestamptz) + to_seconds(-1296000))) - 2000) * 12 + extract(month from (timezone($1::varchar, ("orders".created_at)::timestamptz) + to_seconds(-1296000))) - 1 - 0) / 1))::int)) + to_seconds(1296000)) as "orders.created_at.half_month",
    count(*) as "m1"
  from orders as "orders"
  group by 1, 2, 3
) as "fact_1"
order by "fact_1"."orders.created_at.fiscal_year" asc nulls last, "fact_1"."orders.created_at.sprint" asc nulls last, "fact_1"."orders.created_at.half_month" asc nulls last
limit 50000;
-- ["UTC","2024-01-03T00:00:00.000"]

-- postgres
select
  "fact_1"."orders.created_at.fiscal_year" as "orders.created_at.fiscal_year",
  "fact_1"."orders.created_at.sprint" as "orders.created_at.sprint",
  "fact_1"."orders.created_at.half_month" as "orders.created_at.half_month",
  "fact_1"."m1" as "orders.count"
from (
  select
    (timestamp '2000-01-01' + interval '1 month' * (3 + 12 * floor(((extract(year from timezone($1::text, ("orders".created_at)::timestamptz)) - 2000) * 12 + extract(month from timezone($1::text, ("orders".created_at)::timestamptz)) - 1 - 3)::numeric / 12))::int) as "orders.created_at.fiscal_year",
    date_bin(1209600 * interval '1 second', timezone($1::text, ("orders".created_at)::timestamptz), $2::timestamp) as "orders.created_at.sprint",
    ((timestamp '2000-01-01' + interval '1 month' * (0 + 1 * floor(((extract(year from (timezone($1::text, ("orders".created_at)::timestamptz) + -1296000 * interval '1 second')) - 2000) * 12 + extract(month from (timezone($1::text, ("orders".created_at)::timestamptz) + -1296000 * interval '1 second')) - 1 - 0)::numeric / 1))::int) + 1296000 * interval '1 second') as "orders.created_at.half_month",
    count(*) as "m1"
  from orders as "orders"
  group by 1, 2, 3
) as "fact_1"
order by "fact_1"."orders.created_at.fiscal_year" asc nulls last, "fact_1"."orders.created_at.sprint" asc nulls last, "fact_1"."orders.created_at.half_month" asc nulls last
limit 50000;
-- ["UTC","2024-01-03T00:00:00.000"]

-- clickhouse
select
  "fact_1"."orders.created_at.fiscal_year" as "orders.created_at.fiscal_year",
  "fact_1"."orders.created_at.sprint" as "orders.created_at.sprint",
  "fact_1"."orders.created_at.half_month" as "orders.created_at.half_month",
  "fact_1"."m1" as "orders.count"
from (
  select
    addMonths(toDateTime64('2000-01-01 00:00:00', 6, 'UTC'), toInt32(3 + 12 * floor(((toYear(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p1:String})))) - 2000) * 12 + toMonth(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p1:String})))) - 1 - 3) / 12))) as "orders.created_at.fiscal_year",
    subtractMicroseconds(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p1:String}))), positiveModulo(toUnixTimestamp64Micro(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p1:String})))) - toUnixTimestamp64Micro({p2:DateTime64(6, 'UTC')}), 1209600 * 1000000)) as "orders.created_at.sprint",
    addSeconds(addMonths(toDateTime64('2000-01-01 00:00:00', 6, 'UTC'), toInt32(0 + 1 * floor(((toYear(addSeconds(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p1:String}))), -1296000)) - 2000) * 12 + toMonth(addSeconds(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p1:String}))), -1296000)) - 1 - 0) / 1))), 1296000) as "orders.created_at.half_month",
    count(*) as "m1"
  from orders as "orders"
  group by 1, 2, 3
) as "fact_1"
order by "fact_1"."orders.created_at.fiscal_year" asc nulls last, "fact_1"."orders.created_at.sprint" asc nulls last, "fact_1"."orders.created_at.half_month" asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["UTC","2024-01-03 00:00:00.000"]

-- rows
-- ["2023-04-01 00:00:00","2024-03-27 00:00:00","2024-03-16 00:00:00","3"]
-- ["2024-04-01 00:00:00","2024-03-27 00:00:00","2024-03-16 00:00:00","1"]
-- ["2024-04-01 00:00:00","2024-10-23 00:00:00","2024-10-16 00:00:00","2"]
