"""API keys in PostgreSQL, for all replicas."""
