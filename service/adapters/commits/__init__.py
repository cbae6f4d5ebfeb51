"""Commits to Iceberg tables: snapshots of commit rounds, new tables, schema changes."""
