select 1 as order_id, 1 as buyer_id, 'placed' as status, 80.0 as net, date '2025-01-01' as ordered_on
union all select 2, 1, 'returned', 20.0, date '2025-01-02'
union all select 3, 2, 'placed', 30.0, date '2025-01-09'
