"""Stores beside the tables, which replicas share.

Queries, ingests, streams and results; sessions, API keys and policies; the audit log.
"""
