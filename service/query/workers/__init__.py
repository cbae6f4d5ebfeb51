"""Who runs queries, and when: bounded pools, turns between callers, admission and timeouts.

In come handles of queries; each ends with a state and a record, whatever happens. A thread that hangs is
given up, and another one takes its place. The room imports `execution`, `registry` and `admission`.
"""
