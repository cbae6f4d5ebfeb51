"""Values about one query: the request, the result, the record, and what explains it later.

Frozen values without behaviour of their own: the caller's request, the effect of pruning, what scans read,
and what the engine returned, and how many of these are combined in lists and plans. The room imports
`filters`, `ingest` and `tables`.
"""
