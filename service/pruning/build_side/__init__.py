"""The queries that collect the keys of build sides.

Input: candidates and their graphs. Output: the SQL texts that collect keys, ranges of keys or keys of several
columns; the filters that can prune each other's queries; and the reason why a build side cannot be queried by
itself. The room imports `candidates`, `join_graph`, `predicates` and what lies below them.
"""
