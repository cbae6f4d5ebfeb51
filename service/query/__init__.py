"""The life of one query: validate, run, record, explain."""
