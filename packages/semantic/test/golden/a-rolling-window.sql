-- a rolling window
-- {
--   "measures": [
--     "orders.last_three_days",
--     "orders.running",
--     "orders.revenue"
--   ],
--   "timeDimensions": [
--     {
--       "dimension": "orders.created_at",
--       "granularity": "day",
--       "dateRange": [
--         "2024-03-30",
--         "2024-04-02"
--       ]
--     }
--   ],
--   "timezone": "Europe/Berlin"
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  coalesce(coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day"), "fact_3"."orders.created_at.day") as "orders.created_at.day",
  "fact_1"."m1" as "orders.last_three_days",
  "fact_2"."m1" as "orders.running",
  "fact_3"."m1" as "orders.revenue"
from (
  select
    "periods"."period" as "orders.created_at.day",
    sum("orders".amount) as "m1"
  from orders as "orders"
  cross join (
    select
      ("runs"."period" + to_seconds("runs"."number" * $1::bigint)) as "period",
      ("runs"."from" + to_seconds("runs"."number" * $1::bigint)) as "from",
      ("runs"."to" + to_seconds("runs"."number" * $1::bigint)) as "to"
    from (
      select
        "runs"."period" as "period",
        "runs"."from" as "from",
        "runs"."to" as "to",
        unnest(range("runs"."count")) as "number"
      from (values ($2::timestamp, $3::timestamptz, $4::timestamptz, $5::bigint), ($6::timestamp, $7::timestamptz, $8::timestamptz, $9::bigint)) as "runs"("period", "from", "to", "count")
    ) as "runs"
  ) as "periods"
  where ("orders".created_at >= "periods"."from" and "orders".created_at < "periods"."to")
  group by 1
) as "fact_1"
full join (
  select
    "periods"."period" as "orders.created_at.day",
    sum("orders".amount) as "m1"
  from orders as "orders"
  cross join (
    select
      ("runs"."period" + to_seconds("runs"."number" * $1::bigint)) as "period",
      ("runs"."from" + to_seconds("runs"."number" * $1::bigint)) as "from",
      ("runs"."to" + to_seconds("runs"."number" * $1::bigint)) as "to"
    from (
      select
        "runs"."period" as "period",
        "runs"."from" as "from",
        "runs"."to" as "to",
        unnest(range("runs"."count")) as "number"
      from (values ($2::timestamp, $4::timestamptz, $4::timestamptz, $5::bigint), ($6::timestamp, $8::timestamptz, $8::timestamptz, $9::bigint)) as "runs"("period", "from", "to", "count")
    ) as "runs"
  ) as "periods"
  where "orders".created_at < "periods"."to"
  group by 1
) as "fact_2" on coalesce("fact_1"."orders.created_at.day", timestamp '2000-01-01') = coalesce("fact_2"."orders.created_at.day", timestamp '2000-01-01') and ("fact_1"."orders.created_at.day" is null) = ("fact_2"."orders.created_at.day" is null)
full join (
  select
    date_trunc('day', timezone($10::varchar, ("orders".created_at)::timestamptz)) as "orders.created_at.day",
    sum("orders".amount) as "m1"
  from orders as "orders"
  where ("orders".created_at >= $11::timestamptz and "orders".created_at < $12::timestamptz)
  group by 1
) as "fact_3" on coalesce(coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day"), timestamp '2000-01-01') = coalesce("fact_3"."orders.created_at.day", timestamp '2000-01-01') and (coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day") is null) = ("fact_3"."orders.created_at.day" is null)
order by coalesce(coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day"), "fact_3"."orders.created_at.day") asc nulls last
limit 50000;
-- ["86400","2024-03-30T00:00:00.000","2024-03-27T23:00:00.000000Z","2024-03-30T23:00:00.000000Z","1","2024-03-31T00:00:00.000","2024-03-28T23:00:00.000000Z","2024-03-31T22:00:00.000000Z","3","Europe/Berlin","2024-03-29T23:00:00.000000Z","2024-04-02T22:00:00.000000Z"]

-- postgres
select
  coalesce(coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day"), "fact_3"."orders.created_at.day") as "orders.created_at.day",
  "fact_1"."m1" as "orders.last_three_days",
  "fact_2"."m1" as "orders.running",
  "fact_3"."m1" as "orders.revenue"
from (
  select
    "periods"."period" as "orders.created_at.day",
    sum("orders".amount) as "m1"
  from orders as "orders"
  cross join (
    select
      ("runs"."period" + "runs"."number" * $1::bigint * interval '1 second') as "period",
      ("runs"."from" + "runs"."number" * $1::bigint * interval '1 second') as "from",
      ("runs"."to" + "runs"."number" * $1::bigint * interval '1 second') as "to"
    from (
      select
        "runs"."period" as "period",
        "runs"."from" as "from",
        "runs"."to" as "to",
        generate_series(0, "runs"."count" - 1) as "number"
      from (values ($2::timestamp, $3::timestamptz, $4::timestamptz, $5::bigint), ($6::timestamp, $7::timestamptz, $8::timestamptz, $9::bigint)) as "runs"("period", "from", "to", "count")
    ) as "runs"
  ) as "periods"
  where ("orders".created_at >= "periods"."from" and "orders".created_at < "periods"."to")
  group by 1
) as "fact_1"
full join (
  select
    "periods"."period" as "orders.created_at.day",
    sum("orders".amount) as "m1"
  from orders as "orders"
  cross join (
    select
      ("runs"."period" + "runs"."number" * $1::bigint * interval '1 second') as "period",
      ("runs"."from" + "runs"."number" * $1::bigint * interval '1 second') as "from",
      ("runs"."to" + "runs"."number" * $1::bigint * interval '1 second') as "to"
    from (
      select
        "runs"."period" as "period",
        "runs"."from" as "from",
        "runs"."to" as "to",
        generate_series(0, "runs"."count" - 1) as "number"
      from (values ($2::timestamp, $4::timestamptz, $4::timestamptz, $5::bigint), ($6::timestamp, $8::timestamptz, $8::timestamptz, $9::bigint)) as "runs"("period", "from", "to", "count")
    ) as "runs"
  ) as "periods"
  where "orders".created_at < "periods"."to"
  group by 1
) as "fact_2" on coalesce("fact_1"."orders.created_at.day", timestamp '2000-01-01') = coalesce("fact_2"."orders.created_at.day", timestamp '2000-01-01') and ("fact_1"."orders.created_at.day" is null) = ("fact_2"."orders.created_at.day" is null)
full join (
  select
    date_trunc('day', timezone($10::text, ("orders".created_at)::timestamptz)) as "orders.created_at.day",
    sum("orders".amount) as "m1"
  from orders as "orders"
  where ("orders".created_at >= $11::timestamptz and "orders".created_at < $12::timestamptz)
  group by 1
) as "fact_3" on coalesce(coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day"), timestamp '2000-01-01') = coalesce("fact_3"."orders.created_at.day", timestamp '2000-01-01') and (coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day") is null) = ("fact_3"."orders.created_at.day" is null)
order by coalesce(coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day"), "fact_3"."orders.created_at.day") asc nulls last
limit 50000;
-- ["86400","2024-03-30T00:00:00.000","2024-03-27T23:00:00.000000Z","2024-03-30T23:00:00.000000Z","1","2024-03-31T00:00:00.000","2024-03-28T23:00:00.000000Z","2024-03-31T22:00:00.000000Z","3","Europe/Berlin","2024-03-29T23:00:00.000000Z","2024-04-02T22:00:00.000000Z"]

-- clickhouse
select
  coalesce(coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day"), "fact_3"."orders.created_at.day") as "orders.created_at.day",
  "fact_1"."m1" as "orders.last_three_days",
  "fact_2"."m1" as "orders.running",
  "fact_3"."m1" as "orders.revenue"
from (
  select
    "periods"."period" as "orders.created_at.day",
    sum("orders".amount) as "m1"
  from orders as "orders"
  cross join (
    select
      addSeconds("runs"."period", "runs"."number" * {p1:Int64}) as "period",
      addSeconds("runs"."from", "runs"."number" * {p1:Int64}) as "from",
      addSeconds("runs"."to", "runs"."number" * {p1:Int64}) as "to"
    from (
      select
        "runs"."period" as "period",
        "runs"."from" as "from",
        "runs"."to" as "to",
        arrayJoin(range(toUInt64("runs"."count"))) as "number"
      from (select tupleElement(row, 1) as "period", tupleElement(row, 2) as "from", tupleElement(row, 3) as "to", tupleElement(row, 4) as "count" from (select arrayJoin([({p2:DateTime64(6, 'UTC')}, {p3:DateTime64(6, 'UTC')}, {p4:DateTime64(6, 'UTC')}, {p5:Int64}), ({p6:DateTime64(6, 'UTC')}, {p7:DateTime64(6, 'UTC')}, {p8:DateTime64(6, 'UTC')}, {p9:Int64})]) as row)) as "runs"
    ) as "runs"
  ) as "periods"
  where ("orders".created_at >= "periods"."from" and "orders".created_at < "periods"."to")
  group by 1
) as "fact_1"
full join (
  select
    "periods"."period" as "orders.created_at.day",
    sum("orders".amount) as "m1"
  from orders as "orders"
  cross join (
    select
      addSeconds("runs"."period", "runs"."number" * {p1:Int64}) as "period",
      addSeconds("runs"."from", "runs"."number" * {p1:Int64}) as "from",
      addSeconds("runs"."to", "runs"."number" * {p1:Int64}) as "to"
    from (
      select
        "runs"."period" as "period",
        "runs"."from" as "from",
        "runs"."to" as "to",
        arrayJoin(range(toUInt64("runs"."count"))) as "number"
      from (select tupleElement(row, 1) as "period", tupleElement(row, 2) as "from", tupleElement(row, 3) as "to", tupleElement(row, 4) as "count" from (select arrayJoin([({p2:DateTime64(6, 'UTC')}, {p4:DateTime64(6, 'UTC')}, {p4:DateTime64(6, 'UTC')}, {p5:Int64}), ({p6:DateTime64(6, 'UTC')}, {p8:DateTime64(6, 'UTC')}, {p8:DateTime64(6, 'UTC')}, {p9:Int64})]) as row)) as "runs"
    ) as "runs"
  ) as "periods"
  where "orders".created_at < "periods"."to"
  group by 1
) as "fact_2" on coalesce("fact_1"."orders.created_at.day", timestamp '2000-01-01') = coalesce("fact_2"."orders.created_at.day", timestamp '2000-01-01') and ("fact_1"."orders.created_at.day" is null) = ("fact_2"."orders.created_at.day" is null)
full join (
  select
    toDateTime64(toStartOfDay(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p10:String})))), 6, 'UTC') as "orders.created_at.day",
    sum("orders".amount) as "m1"
  from orders as "orders"
  where ("orders".created_at >= {p11:DateTime64(6, 'UTC')} and "orders".created_at < {p12:DateTime64(6, 'UTC')})
  group by 1
) as "fact_3" on coalesce(coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day"), timestamp '2000-01-01') = coalesce("fact_3"."orders.created_at.day", timestamp '2000-01-01') and (coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day") is null) = ("fact_3"."orders.created_at.day" is null)
order by coalesce(coalesce("fact_1"."orders.created_at.day", "fact_2"."orders.created_at.day"), "fact_3"."orders.created_at.day") asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["86400","2024-03-30 00:00:00.000","2024-03-27 23:00:00.000000","2024-03-30 23:00:00.000000","1","2024-03-31 00:00:00.000","2024-03-28 23:00:00.000000","2024-03-31 22:00:00.000000","3","Europe/Berlin","2024-03-29 23:00:00.000000","2024-04-02 22:00:00.000000"]

-- rows
-- ["2024-03-30 00:00:00","100","100","100"]
-- ["2024-03-31 00:00:00","120.5","120.5","20.5"]
-- ["2024-04-01 00:00:00","370.5","370.5","250"]
-- ["2024-04-02 00:00:00","270.5","370.5",null]
