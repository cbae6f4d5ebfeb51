"""The log of maintenance, and which process may maintain a table now.

The room imports `shared` and `ingest_log`.
"""
