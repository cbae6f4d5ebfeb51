"""Records of queries and filters, and of replicas with their open queries.

Input: `QueryRecord`s, and the heartbeats of replicas. Output: the same records, lists of queries, sums by
table, and queries whose replica is gone. The room imports `shared`.
"""
