"""`sluice demo`: one query and one ingest on a real lakehouse, end to end."""
