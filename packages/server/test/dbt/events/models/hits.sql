select id, visitor as "Visitor Id", page as "group", ms, cast(seen_at as timestamp) as seen_at, [ms, ms] as parts from {{ ref('raw_hits') }}
