"""Code that all stores on PostgreSQL share.

It holds connections and their pools, an advisory lock, a wait for a standby that takes over, the translation
of PostgreSQL's errors into the gateway's, and the metadata in which all tables are declared. The room imports
only ports and model.
"""
