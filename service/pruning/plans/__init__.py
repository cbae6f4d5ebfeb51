"""A query's plans for people.

In come the user's SQL, its filters and what its scans read; out go trees of `PlanNode`s, before and after
pruning, and their text. Detection does not use this room; `/explain` does. It imports `name_resolution`.
"""
