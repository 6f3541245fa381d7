select 1 as buyer_id, 'north' as region union all select 2, 'south'
