select visitor, count(*) as hits, min(seen_at) as first_at from {{ ref('raw_hits') }} group by 1
