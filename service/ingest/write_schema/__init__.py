"""Which columns an ingest writes: what was asked for becomes a `WriteTarget`, or every reason why not."""
