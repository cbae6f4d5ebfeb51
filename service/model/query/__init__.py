"""Values about one query: the request, the result, the record, and what is said of it later.

Frozen values without behaviour of their own: what a caller asked, what pruning did, what scans read, what
the engine returned, and how many of these are put together in lists and plans. The room imports `filters`,
`ingest` and `tables`.
"""
