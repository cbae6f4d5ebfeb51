-- The sums of the customers, and of the orders that have one, are equal.
select of_customers, of_orders
from (select sum(amount) as of_customers from {{ ref('customers') }})
cross join (select sum(amount) as of_orders from {{ ref('orders') }} where customer_id is not null)
where of_customers <> of_orders
