select * from {{ ref('raw_items') }}
