"""Servers that live with the gateway: PostgreSQL and Valkey, without installation or administrator."""
