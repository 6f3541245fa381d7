{{ config(alias='invoices', schema='core') }}
select i.account_id, i.period, cast(i.amount as decimal(12, 2)) as amount, i.paid from {{ source('landing', 'raw_invoices') }} i
