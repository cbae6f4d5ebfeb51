-- Each run merges the orders of the last week by their key: a status that has changed replaces the one before.
{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='order_id',
    on_schema_change='append_new_columns',
    partition_by='order_day',
    tblproperties={'write.merge.mode': 'merge-on-read'}
) }}

select order_id, customer_id, ordered_at, order_day, status, amount
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where ordered_at >= (select max(ordered_at) - interval 7 days from {{ this }})
{% endif %}
