{{ config(alias='hits_by_page_too') }}
select page, count(*) as hits, sum(ms) as ms from {{ ref('raw_hits') }} group by 1
