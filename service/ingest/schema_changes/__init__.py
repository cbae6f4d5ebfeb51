"""Tables that an ingest makes or changes so that what was sent fits, by name."""
