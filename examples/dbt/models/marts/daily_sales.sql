-- Each run replaces the days that have orders since the last one, and leaves all other days as they are.
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by='order_day'
) }}

select order_day, count(*) as orders, sum(amount) as amount
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where order_day >= (select max(order_day) from {{ this }})
{% endif %}
group by order_day
