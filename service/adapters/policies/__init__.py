"""Policies in PostgreSQL, for all replicas."""
