-- One row for each order, appended once: an order that is in the table is not read again.
{{ config(materialized='incremental', incremental_strategy='append') }}

select order_id, ordered_at, amount
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where ordered_at > (select max(ordered_at) from {{ this }})
{% endif %}
