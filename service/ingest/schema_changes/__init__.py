"""Creates or changes tables so that the records of an ingest fit, matching columns by name."""
