"""Who calls, how many calls run at once, and how each ended."""
