"""Queries that are sent to a gateway with default settings."""
