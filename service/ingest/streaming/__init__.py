"""Streams: micro-batches that each are an ingest."""
