"""Saved queries in PostgreSQL, for all replicas."""
