"""What PostgreSQL keeps: queries and what was pruned, the ingest log, maintenance, streams."""
