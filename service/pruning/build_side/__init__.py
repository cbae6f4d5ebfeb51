"""The queries that collect the keys of build sides.

In come candidates and their graphs; out go the SQL texts that collect keys, ranges of keys or keys of
several columns, which filters can narrow each other's queries, and the reason where a build side cannot be
queried by itself. The room imports `candidates`, `join_graph`, `predicates` and what lies below them.
"""
