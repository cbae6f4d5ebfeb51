"""Tables that can be queried, the effect of pruning on them, and their maintenance."""
