"""Who callers are, what they may do, and what is kept of it."""
