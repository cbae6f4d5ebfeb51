"""Files that callers want read: found by the gateway, opened wherever they are read."""
