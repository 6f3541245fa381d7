{{ config(alias='hits_by_page') }}
select page, count(*) as hits from {{ ref('raw_hits') }} group by 1
