"""A gateway as in production: callers with tokens, servers of its own that may go down, two catalogs."""
