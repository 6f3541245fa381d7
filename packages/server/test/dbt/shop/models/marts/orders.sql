select
  o.id as order_id, o.customer_id, o.status, c.net, c.tax, c.net + c.tax as gross,
  cast(o.ordered_at as timestamp) as ordered_at, cast(o.shipped_on as date) as shipped_on,
  o.status = 'returned' as is_returned
from {{ ref('stg_orders') }} o join {{ ref('cents') }} c on c.id = o.id
