"""The log of maintenance, and whose turn it is at a table.

The room imports `shared` and `ingest_log`.
"""
