"""Files that callers want read: the gateway finds them, and they are opened where they are read."""
