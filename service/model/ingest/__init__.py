"""Values about ingests and streams: requests, sources, write results, and commits.

Frozen values from what a caller sent to the snapshot that it became; many of them travel to executors or
are stored as JSON. The room imports `tables`.
"""
