-- calculated fields
-- {
--   "measures": [
--     "orders.revenue"
--   ],
--   "dimensions": [
--     "orders.status"
--   ],
--   "timeDimensions": [
--     {
--       "dimension": "orders.created_at",
--       "granularity": "month"
--     }
--   ],
--   "calculated": [
--     {
--       "name": "buyers",
--       "kind": "aggregate",
--       "of": "customers.name",
--       "function": "countDistinct"
--     },
--     {
--       "name": "share",
--       "kind": "shareOfTotal",
--       "of": "orders.revenue",
--       "within": [
--         "orders.created_at.month"
--       ]
--     },
--     {
--       "name": "change",
--       "kind": "percentDifference",
--       "of": "orders.revenue"
--     },
--     {
--       "name": "so_far",
--       "kind": "runningTotal",
--       "of": "orders.count"
--     },
--     {
--       "name": "place",
--       "kind": "rank",
--       "of": "share"
--     },
--     {
--       "name": "per_buyer",
--       "kind": "expression",
--       "expression": "round(if(orders.status = 'paid', orders.revenue, 0) / buyers, 2)"
--     }
--   ],
--   "order": [
--     [
--       "place",
--       "asc"
--     ]
--   ],
--   "total": true
-- }
-- viewer: {"groups":["support"],"tenantGroups":[],"roles":["Admin"],"userAttributes":{},"securityContext":{}}

-- duckdb
select
  "below"."orders.status" as "orders.status",
  "below"."orders.created_at.month" as "orders.created_at.month",
  "below"."orders.revenue" as "orders.revenue",
  "below"."count_distinct customers.name" as "count_distinct customers.name",
  "below"."share" as "share",
  "below"."change" as "change",
  "below"."so_far" as "so_far",
  "below"."place" as "place",
  "below"."per_buyer" as "per_buyer"
from (
  select
    "below"."orders.status" as "orders.status",
    "below"."orders.created_at.month" as "orders.created_at.month",
    "below"."orders.revenue" as "orders.revenue",
    "below"."count_distinct customers.name" as "count_distinct customers.name",
    "below"."orders.count" as "orders.count",
    "below"."share" as "share",
    "below"."change" as "change",
    "below"."so_far" as "so_far",
    "below"."per_buyer" as "per_buyer",
    (case when "below"."share" is not null then rank() over (order by "below"."share" desc nulls last ) end) as "place"
  from (
    select
      "below"."orders.status" as "orders.status",
      "below"."orders.created_at.month" as "orders.created_at.month",
      "below"."orders.revenue" as "orders.revenue",
      "below"."count_distinct customers.name" as "count_distinct customers.name",
      "below"."orders.count" as "orders.count",
      ("below"."orders.revenue" / nullif(sum("below"."orders.revenue") over (partition by "below"."orders.created_at.month" ), 0)) as "share",
      (("below"."orders.revenue" - max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding)) / nullif(max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding), 0)) as "change",
      sum("below"."orders.count") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between unbounded preceding and current row) as "so_far",
      round(((case when (("below"."orders.status")::varchar = $1::varchar) then "below"."orders.revenue" else $2::bigint end) / nullif("below"."count_distinct customers.name", 0)), 2) as "per_buyer"
    from (
      select
        coalesce("fact_1"."orders.status", "fact_2"."orders.status") as "orders.status",
        coalesce("fact_1"."orders.created_at.month", "fact_2"."orders.created_at.month") as "orders.created_at.month",
        "fact_1"."m1" as "orders.revenue",
        coalesce("fact_2"."m1", 0) as "count_distinct customers.name",
        coalesce("fact_1"."m2", 0) as "orders.count"
      from (
        select
          "orders".status as "orders.status",
          date_trunc('month', timezone($3::varchar, ("orders".created_at)::timestamptz)) as "orders.created_at.month",
          sum("orders".amount) as "m1",
          count(*) as "m2"
        from orders as "orders"
        group by 1, 2
      ) as "fact_1"
      full join (
        select
          "rows"."orders.status" as "orders.status",
          "rows"."orders.created_at.month" as "orders.created_at.month",
          count(distinct "rows"."m1") as "m1"
        from (
          select distinct
            "orders".status as "orders.status",
            date_trunc('month', timezone($3::varchar, ("orders".created_at)::timestamptz)) as "orders.created_at.month",
            "customers".id as "id",
            "customers".name as "m1"
          from customers as "customers"
          left join orders as "orders" on "orders".customer_id = "customers".id
        ) as "rows"
        group by 1, 2
      ) as "fact_2" on (coalesce(("fact_1"."orders.status")::varchar, '') = coalesce(("fact_2"."orders.status")::varchar, '') and ("fact_1"."orders.status" is null) = ("fact_2"."orders.status" is null) and coalesce("fact_1"."orders.created_at.month", timestamp '2000-01-01') = coalesce("fact_2"."orders.created_at.month", timestamp '2000-01-01') and ("fact_1"."orders.created_at.month" is null) = ("fact_2"."orders.created_at.month" is null))
    ) as "below"
  ) as "below"
) as "below"
order by "below"."place" asc nulls last, ("below"."orders.status")::varchar asc nulls last, "below"."orders.created_at.month" asc nulls last
limit 50000;
-- ["paid","0","UTC"]

-- duckdb
select
  count(*) as "total"
from (
  select
    "below"."orders.status" as "orders.status",
    "below"."orders.created_at.month" as "orders.created_at.month",
    "below"."orders.revenue" as "orders.revenue",
    "below"."count_distinct customers.name" as "count_distinct customers.name",
    "below"."share" as "share",
    "below"."change" as "change",
    "below"."so_far" as "so_far",
    "below"."place" as "place",
    "below"."per_buyer" as "per_buyer"
  from (
    select
      "below"."orders.status" as "orders.status",
      "below"."orders.created_at.month" as "orders.created_at.month",
      "below"."orders.revenue" as "orders.revenue",
      "below"."count_distinct customers.name" as "count_distinct customers.name",
      "below"."orders.count" as "orders.count",
      "below"."share" as "share",
      "below"."change" as "change",
      "below"."so_far" as "so_far",
      "below"."per_buyer" as "per_buyer",
      (case when "below"."share" is not null then rank() over (order by "below"."share" desc nulls last ) end) as "place"
    from (
      select
        "below"."orders.status" as "orders.status",
        "below"."orders.created_at.month" as "orders.created_at.month",
        "below"."orders.revenue" as "orders.revenue",
        "below"."count_distinct customers.name" as "count_distinct customers.name",
        "below"."orders.count" as "orders.count",
        ("below"."orders.revenue" / nullif(sum("below"."orders.revenue") over (partition by "below"."orders.created_at.month" ), 0)) as "share",
        (("below"."orders.revenue" - max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding)) / nullif(max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding), 0)) as "change",
        sum("below"."orders.count") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between unbounded preceding and current row) as "so_far",
        round(((case when (("below"."orders.status")::varchar = $1::varchar) then "below"."orders.revenue" else $2::bigint end) / nullif("below"."count_distinct customers.name", 0)), 2) as "per_buyer"
      from (
        select
          coalesce("fact_1"."orders.status", "fact_2"."orders.status") as "orders.status",
          coalesce("fact_1"."orders.created_at.month", "fact_2"."orders.created_at.month") as "orders.created_at.month",
          "fact_1"."m1" as "orders.revenue",
          coalesce("fact_2"."m1", 0) as "count_distinct customers.name",
          coalesce("fact_1"."m2", 0) as "orders.count"
        from (
          select
            "orders".status as "orders.status",
            date_trunc('month', timezone($3::varchar, ("orders".created_at)::timestamptz)) as "orders.created_at.month",
            sum("orders".amount) as "m1",
            count(*) as "m2"
          from orders as "orders"
          group by 1, 2
        ) as "fact_1"
        full join (
          select
            "rows"."orders.status" as "orders.status",
            "rows"."orders.created_at.month" as "orders.created_at.month",
            count(distinct "rows"."m1") as "m1"
          from (
            select distinct
              "orders".status as "orders.status",
              date_trunc('month', timezone($3::varchar, ("orders".created_at)::timestamptz)) as "orders.created_at.month",
              "customers".id as "id",
              "customers".name as "m1"
            from customers as "customers"
            left join orders as "orders" on "orders".customer_id = "customers".id
          ) as "rows"
          group by 1, 2
        ) as "fact_2" on (coalesce(("fact_1"."orders.status")::varchar, '') = coalesce(("fact_2"."orders.status")::varchar, '') and ("fact_1"."orders.status" is null) = ("fact_2"."orders.status" is null) and coalesce("fact_1"."orders.created_at.month", timestamp '2000-01-01') = coalesce("fact_2"."orders.created_at.month", timestamp '2000-01-01') and ("fact_1"."orders.created_at.month" is null) = ("fact_2"."orders.created_at.month" is null))
      ) as "below"
    ) as "below"
  ) as "below"
) as "rows";
-- ["paid","0","UTC"]

-- postgres
select
  "below"."orders.status" as "orders.status",
  "below"."orders.created_at.month" as "orders.created_at.month",
  "below"."orders.revenue" as "orders.revenue",
  "below"."count_distinct customers.name" as "count_distinct customers.name",
  "below"."share" as "share",
  "below"."change" as "change",
  "below"."so_far" as "so_far",
  "below"."place" as "place",
  "below"."per_buyer" as "per_buyer"
from (
  select
    "below"."orders.status" as "orders.status",
    "below"."orders.created_at.month" as "orders.created_at.month",
    "below"."orders.revenue" as "orders.revenue",
    "below"."count_distinct customers.name" as "count_distinct customers.name",
    "below"."orders.count" as "orders.count",
    "below"."share" as "share",
    "below"."change" as "change",
    "below"."so_far" as "so_far",
    "below"."per_buyer" as "per_buyer",
    (case when "below"."share" is not null then rank() over (order by "below"."share" desc nulls last ) end) as "place"
  from (
    select
      "below"."orders.status" as "orders.status",
      "below"."orders.created_at.month" as "orders.created_at.month",
      "below"."orders.revenue" as "orders.revenue",
      "below"."count_distinct customers.name" as "count_distinct customers.name",
      "below"."orders.count" as "orders.count",
      ("below"."orders.revenue" / nullif((sum("below"."orders.revenue") over (partition by "below"."orders.created_at.month" ))::numeric, 0)) as "share",
      (("below"."orders.revenue" - max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding)) / nullif((max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding))::numeric, 0)) as "change",
      sum("below"."orders.count") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between unbounded preceding and current row) as "so_far",
      round(cast(((case when (("below"."orders.status")::text = $1::text) then "below"."orders.revenue" else $2::bigint end) / nullif(("below"."count_distinct customers.name")::numeric, 0)) as numeric(76, 38)), 2) as "per_buyer"
    from (
      select
        coalesce("fact_1"."orders.status", "fact_2"."orders.status") as "orders.status",
        coalesce("fact_1"."orders.created_at.month", "fact_2"."orders.created_at.month") as "orders.created_at.month",
        "fact_1"."m1" as "orders.revenue",
        coalesce("fact_2"."m1", 0) as "count_distinct customers.name",
        coalesce("fact_1"."m2", 0) as "orders.count"
      from (
        select
          "orders".status as "orders.status",
          date_trunc('month', timezone($3::text, ("orders".created_at)::timestamptz)) as "orders.created_at.month",
          sum("orders".amount) as "m1",
          count(*) as "m2"
        from orders as "orders"
        group by 1, 2
      ) as "fact_1"
      full join (
        select
          "rows"."orders.status" as "orders.status",
          "rows"."orders.created_at.month" as "orders.created_at.month",
          count(distinct "rows"."m1") as "m1"
        from (
          select distinct
            "orders".status as "orders.status",
            date_trunc('month', timezone($3::text, ("orders".created_at)::timestamptz)) as "orders.created_at.month",
            "customers".id as "id",
            "customers".name as "m1"
          from customers as "customers"
          left join orders as "orders" on "orders".customer_id = "customers".id
        ) as "rows"
        group by 1, 2
      ) as "fact_2" on (coalesce(("fact_1"."orders.status")::text, '') = coalesce(("fact_2"."orders.status")::text, '') and ("fact_1"."orders.status" is null) = ("fact_2"."orders.status" is null) and coalesce("fact_1"."orders.created_at.month", timestamp '2000-01-01') = coalesce("fact_2"."orders.created_at.month", timestamp '2000-01-01') and ("fact_1"."orders.created_at.month" is null) = ("fact_2"."orders.created_at.month" is null))
    ) as "below"
  ) as "below"
) as "below"
order by "below"."place" asc nulls last, ("below"."orders.status")::text collate "C" asc nulls last, "below"."orders.created_at.month" asc nulls last
limit 50000;
-- ["paid","0","UTC"]

-- postgres
select
  count(*) as "total"
from (
  select
    "below"."orders.status" as "orders.status",
    "below"."orders.created_at.month" as "orders.created_at.month",
    "below"."orders.revenue" as "orders.revenue",
    "below"."count_distinct customers.name" as "count_distinct customers.name",
    "below"."share" as "share",
    "below"."change" as "change",
    "below"."so_far" as "so_far",
    "below"."place" as "place",
    "below"."per_buyer" as "per_buyer"
  from (
    select
      "below"."orders.status" as "orders.status",
      "below"."orders.created_at.month" as "orders.created_at.month",
      "below"."orders.revenue" as "orders.revenue",
      "below"."count_distinct customers.name" as "count_distinct customers.name",
      "below"."orders.count" as "orders.count",
      "below"."share" as "share",
      "below"."change" as "change",
      "below"."so_far" as "so_far",
      "below"."per_buyer" as "per_buyer",
      (case when "below"."share" is not null then rank() over (order by "below"."share" desc nulls last ) end) as "place"
    from (
      select
        "below"."orders.status" as "orders.status",
        "below"."orders.created_at.month" as "orders.created_at.month",
        "below"."orders.revenue" as "orders.revenue",
        "below"."count_distinct customers.name" as "count_distinct customers.name",
        "below"."orders.count" as "orders.count",
        ("below"."orders.revenue" / nullif((sum("below"."orders.revenue") over (partition by "below"."orders.created_at.month" ))::numeric, 0)) as "share",
        (("below"."orders.revenue" - max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding)) / nullif((max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding))::numeric, 0)) as "change",
        sum("below"."orders.count") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between unbounded preceding and current row) as "so_far",
        round(cast(((case when (("below"."orders.status")::text = $1::text) then "below"."orders.revenue" else $2::bigint end) / nullif(("below"."count_distinct customers.name")::numeric, 0)) as numeric(76, 38)), 2) as "per_buyer"
      from (
        select
          coalesce("fact_1"."orders.status", "fact_2"."orders.status") as "orders.status",
          coalesce("fact_1"."orders.created_at.month", "fact_2"."orders.created_at.month") as "orders.created_at.month",
          "fact_1"."m1" as "orders.revenue",
          coalesce("fact_2"."m1", 0) as "count_distinct customers.name",
          coalesce("fact_1"."m2", 0) as "orders.count"
        from (
          select
            "orders".status as "orders.status",
            date_trunc('month', timezone($3::text, ("orders".created_at)::timestamptz)) as "orders.created_at.month",
            sum("orders".amount) as "m1",
            count(*) as "m2"
          from orders as "orders"
          group by 1, 2
        ) as "fact_1"
        full join (
          select
            "rows"."orders.status" as "orders.status",
            "rows"."orders.created_at.month" as "orders.created_at.month",
            count(distinct "rows"."m1") as "m1"
          from (
            select distinct
              "orders".status as "orders.status",
              date_trunc('month', timezone($3::text, ("orders".created_at)::timestamptz)) as "orders.created_at.month",
              "customers".id as "id",
              "customers".name as "m1"
            from customers as "customers"
            left join orders as "orders" on "orders".customer_id = "customers".id
          ) as "rows"
          group by 1, 2
        ) as "fact_2" on (coalesce(("fact_1"."orders.status")::text, '') = coalesce(("fact_2"."orders.status")::text, '') and ("fact_1"."orders.status" is null) = ("fact_2"."orders.status" is null) and coalesce("fact_1"."orders.created_at.month", timestamp '2000-01-01') = coalesce("fact_2"."orders.created_at.month", timestamp '2000-01-01') and ("fact_1"."orders.created_at.month" is null) = ("fact_2"."orders.created_at.month" is null))
      ) as "below"
    ) as "below"
  ) as "below"
) as "rows";
-- ["paid","0","UTC"]

-- clickhouse
select
  "below"."orders.status" as "orders.status",
  "below"."orders.created_at.month" as "orders.created_at.month",
  "below"."orders.revenue" as "orders.revenue",
  "below"."count_distinct customers.name" as "count_distinct customers.name",
  "below"."share" as "share",
  "below"."change" as "change",
  "below"."so_far" as "so_far",
  "below"."place" as "place",
  "below"."per_buyer" as "per_buyer"
from (
  select
    "below"."orders.status" as "orders.status",
    "below"."orders.created_at.month" as "orders.created_at.month",
    "below"."orders.revenue" as "orders.revenue",
    "below"."count_distinct customers.name" as "count_distinct customers.name",
    "below"."orders.count" as "orders.count",
    "below"."share" as "share",
    "below"."change" as "change",
    "below"."so_far" as "so_far",
    "below"."per_buyer" as "per_buyer",
    (case when "below"."share" is not null then rank() over (order by "below"."share" desc nulls last ) end) as "place"
  from (
    select
      "below"."orders.status" as "orders.status",
      "below"."orders.created_at.month" as "orders.created_at.month",
      "below"."orders.revenue" as "orders.revenue",
      "below"."count_distinct customers.name" as "count_distinct customers.name",
      "below"."orders.count" as "orders.count",
      ("below"."orders.revenue" / nullif(toFloat64(sum("below"."orders.revenue") over (partition by "below"."orders.created_at.month" )), 0)) as "share",
      (("below"."orders.revenue" - max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding)) / nullif(toFloat64(max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding)), 0)) as "change",
      sum("below"."orders.count") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between unbounded preceding and current row) as "so_far",
      round(((case when (toString("below"."orders.status") = {p1:String}) then toFloat64("below"."orders.revenue") else toFloat64({p2:Int64}) end) / nullif(toFloat64("below"."count_distinct customers.name"), 0)), 2) as "per_buyer"
    from (
      select
        coalesce("fact_1"."orders.status", "fact_2"."orders.status") as "orders.status",
        coalesce("fact_1"."orders.created_at.month", "fact_2"."orders.created_at.month") as "orders.created_at.month",
        "fact_1"."m1" as "orders.revenue",
        coalesce("fact_2"."m1", 0) as "count_distinct customers.name",
        coalesce("fact_1"."m2", 0) as "orders.count"
      from (
        select
          "orders".status as "orders.status",
          toDateTime64(toStartOfMonth(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p3:String})))), 6, 'UTC') as "orders.created_at.month",
          sum("orders".amount) as "m1",
          count(*) as "m2"
        from orders as "orders"
        group by 1, 2
      ) as "fact_1"
      full join (
        select
          "rows"."orders.status" as "orders.status",
          "rows"."orders.created_at.month" as "orders.created_at.month",
          count(distinct "rows"."m1") as "m1"
        from (
          select distinct
            "orders".status as "orders.status",
            toDateTime64(toStartOfMonth(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p3:String})))), 6, 'UTC') as "orders.created_at.month",
            "customers".id as "id",
            "customers".name as "m1"
          from customers as "customers"
          left join orders as "orders" on "orders".customer_id = "customers".id
        ) as "rows"
        group by 1, 2
      ) as "fact_2" on (coalesce(toString("fact_1"."orders.status"), '') = coalesce(toString("fact_2"."orders.status"), '') and ("fact_1"."orders.status" is null) = ("fact_2"."orders.status" is null) and coalesce("fact_1"."orders.created_at.month", timestamp '2000-01-01') = coalesce("fact_2"."orders.created_at.month", timestamp '2000-01-01') and ("fact_1"."orders.created_at.month" is null) = ("fact_2"."orders.created_at.month" is null))
    ) as "below"
  ) as "below"
) as "below"
order by "below"."place" asc nulls last, toString("below"."orders.status") asc nulls last, "below"."orders.created_at.month" asc nulls last
limit 50000
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["paid","0","UTC"]

-- clickhouse
select
  count(*) as "total"
from (
  select
    "below"."orders.status" as "orders.status",
    "below"."orders.created_at.month" as "orders.created_at.month",
    "below"."orders.revenue" as "orders.revenue",
    "below"."count_distinct customers.name" as "count_distinct customers.name",
    "below"."share" as "share",
    "below"."change" as "change",
    "below"."so_far" as "so_far",
    "below"."place" as "place",
    "below"."per_buyer" as "per_buyer"
  from (
    select
      "below"."orders.status" as "orders.status",
      "below"."orders.created_at.month" as "orders.created_at.month",
      "below"."orders.revenue" as "orders.revenue",
      "below"."count_distinct customers.name" as "count_distinct customers.name",
      "below"."orders.count" as "orders.count",
      "below"."share" as "share",
      "below"."change" as "change",
      "below"."so_far" as "so_far",
      "below"."per_buyer" as "per_buyer",
      (case when "below"."share" is not null then rank() over (order by "below"."share" desc nulls last ) end) as "place"
    from (
      select
        "below"."orders.status" as "orders.status",
        "below"."orders.created_at.month" as "orders.created_at.month",
        "below"."orders.revenue" as "orders.revenue",
        "below"."count_distinct customers.name" as "count_distinct customers.name",
        "below"."orders.count" as "orders.count",
        ("below"."orders.revenue" / nullif(toFloat64(sum("below"."orders.revenue") over (partition by "below"."orders.created_at.month" )), 0)) as "share",
        (("below"."orders.revenue" - max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding)) / nullif(toFloat64(max("below"."orders.revenue") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between 1 preceding and 1 preceding)), 0)) as "change",
        sum("below"."orders.count") over (partition by "below"."orders.status" order by "below"."orders.created_at.month" asc nulls last rows between unbounded preceding and current row) as "so_far",
        round(((case when (toString("below"."orders.status") = {p1:String}) then toFloat64("below"."orders.revenue") else toFloat64({p2:Int64}) end) / nullif(toFloat64("below"."count_distinct customers.name"), 0)), 2) as "per_buyer"
      from (
        select
          coalesce("fact_1"."orders.status", "fact_2"."orders.status") as "orders.status",
          coalesce("fact_1"."orders.created_at.month", "fact_2"."orders.created_at.month") as "orders.created_at.month",
          "fact_1"."m1" as "orders.revenue",
          coalesce("fact_2"."m1", 0) as "count_distinct customers.name",
          coalesce("fact_1"."m2", 0) as "orders.count"
        from (
          select
            "orders".status as "orders.status",
            toDateTime64(toStartOfMonth(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p3:String})))), 6, 'UTC') as "orders.created_at.month",
            sum("orders".amount) as "m1",
            count(*) as "m2"
          from orders as "orders"
          group by 1, 2
        ) as "fact_1"
        full join (
          select
            "rows"."orders.status" as "orders.status",
            "rows"."orders.created_at.month" as "orders.created_at.month",
            count(distinct "rows"."m1") as "m1"
          from (
            select distinct
              "orders".status as "orders.status",
              toDateTime64(toStartOfMonth(addSeconds(toDateTime64("orders".created_at, 6, 'UTC'), timezoneOffset(toTimeZone(toDateTime64("orders".created_at, 6, 'UTC'), {p3:String})))), 6, 'UTC') as "orders.created_at.month",
              "customers".id as "id",
              "customers".name as "m1"
            from customers as "customers"
            left join orders as "orders" on "orders".customer_id = "customers".id
          ) as "rows"
          group by 1, 2
        ) as "fact_2" on (coalesce(toString("fact_1"."orders.status"), '') = coalesce(toString("fact_2"."orders.status"), '') and ("fact_1"."orders.status" is null) = ("fact_2"."orders.status" is null) and coalesce("fact_1"."orders.created_at.month", timestamp '2000-01-01') = coalesce("fact_2"."orders.created_at.month", timestamp '2000-01-01') and ("fact_1"."orders.created_at.month" is null) = ("fact_2"."orders.created_at.month" is null))
      ) as "below"
    ) as "below"
  ) as "below"
) as "rows"
settings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, count_distinct_implementation = 'uniqExact', enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1, short_circuit_function_evaluation = 'force_enable';
-- ["paid","0","UTC"]

-- rows
-- ["Open 50%","2024-10-01 00:00:00","7.25","1","1",null,"1","1","0"]
-- ["done","2024-04-01 00:00:00","250","1","1","11.19512195","2","1","0"]
-- ["open","2024-03-01 00:00:00","100","2","0.8298755187",null,"2","3","0"]
-- ["done","2024-03-01 00:00:00","20.5","1","0.1701244813",null,"1","4","0"]
-- [null,"2024-10-01 00:00:00",null,"0",null,null,"1",null,null]

-- rows
-- ["5"]
