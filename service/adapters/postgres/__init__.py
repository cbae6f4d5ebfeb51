"""PostgreSQL's stores: query records and their pruning, the ingest log, maintenance, streams."""
