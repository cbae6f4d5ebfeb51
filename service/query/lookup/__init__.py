"""Finds queries and their results for callers: those held here, open at other replicas, or recorded.

In come ids, requestIds and the caller who asks; out come statuses, results, lists and sums. A caller finds no
query of another one. The room imports `registry` and `workers`, and the ports of `execution`.
"""
