"""Commits what the ingest log has accepted: each round makes one snapshot of a table and branch."""
