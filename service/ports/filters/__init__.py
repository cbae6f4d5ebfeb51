"""The keys of dynamic filters: how they are found, carried over commits, and shared."""
