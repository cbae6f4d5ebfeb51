"""Sessions in PostgreSQL, for all replicas."""
