select customer_id, name, city, updated_at
from {{ ref('raw_customers') }}
