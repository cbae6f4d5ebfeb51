"""The queries that this gateway holds: the state of each, its waiting callers, and its progress.

In come accepted queries and what runs report of them; out go states, progress, lists, and what replicas
know of each other's queries. The room runs nothing, and imports no other room of queries.
"""
