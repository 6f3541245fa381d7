select id as customer_id, name as customer_name, region, cast(joined_on as date) as joined_on from {{ ref('stg_customers') }}
