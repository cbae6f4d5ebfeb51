"""For operators and administrators: health, metrics, API keys, policies, audit log, filter cache."""
