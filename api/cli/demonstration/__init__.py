"""`sluice demo`: one question and one ingest over a real lakehouse, end to end."""
