"""What all stores on PostgreSQL need.

Connections and their pools, an advisory lock, a wait for a standby that takes over, PostgreSQL's errors in
the gateway's own terms, and the metadata that all tables are declared in. The room imports only ports and
model.
"""
