"""Arrow tables to bytes: pure functions, the same bytes for the same rows."""
