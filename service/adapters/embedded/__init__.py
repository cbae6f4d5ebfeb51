"""Servers that run with the gateway: PostgreSQL and Valkey, without installation or administrator."""
