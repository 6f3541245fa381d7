select * from {{ ref('raw_orders') }}
