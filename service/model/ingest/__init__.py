"""Values about ingests and streams: requests, sources, write results, and commits.

These frozen values lead from what a caller sent to the snapshot that it became. Many of them travel to
executors or are stored as JSON. The room imports `tables`.
"""
