"""Values about dynamic filters: candidates, keys, predicates' inputs, and reasons.

Frozen values that detection, collection and the cache share: which scan a filter is for, the keys that were
collected, what the probe's files can hold, and why a filter was not applied. The room imports `tables`.
"""
