{{ config(materialized='ephemeral') }}
select id, net_cents / 100.0 as net, tax_cents / 100.0 as tax from {{ ref('stg_orders') }}
