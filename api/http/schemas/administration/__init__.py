"""API keys, policies, the audit log, filters and health."""
