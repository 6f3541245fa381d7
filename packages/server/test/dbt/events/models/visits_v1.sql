select visitor, count(*) as hits from {{ ref('raw_hits') }} group by 1
