select order_id, line, sku, quantity from {{ ref('stg_items') }}
