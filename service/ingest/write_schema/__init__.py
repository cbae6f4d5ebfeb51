"""Resolves the columns that an ingest writes to a `WriteTarget`, or reports every reason why it cannot."""
