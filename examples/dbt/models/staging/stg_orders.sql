-- The variable `through` ends the orders earlier, so that a first run has fewer of them than the next.
select
    order_id,
    customer_id,
    ordered_at,
    cast(ordered_at as date) as order_day,
    status,
    amount
from {{ ref('raw_orders') }}
where ordered_at < timestamp '{{ var("through", "2027-01-01") }} 00:00:00'
