"""Records of queries and filters, and of replicas with their open queries.

In come `QueryRecord`s and the presence of replicas; out go the same records, lists of queries, sums by
table, and queries whose replica is gone. The room imports `shared`.
"""
