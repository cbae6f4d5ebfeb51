"""The audit log in PostgreSQL, for all replicas."""
