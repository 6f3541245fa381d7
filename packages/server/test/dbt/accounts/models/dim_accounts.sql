{{ config(alias='accounts', schema='core') }}
select account_id, company, plan_code, country, is_active, cast(created_at as timestamp) as created_at from {{ ref('raw_accounts') }}
