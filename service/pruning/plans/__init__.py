"""A query's plans, as people read them.

Input: the user's SQL, its filters, and what its scans read. Output: trees of `PlanNode`s, before and after
pruning, and their text. Detection does not use this room; `/explain` does. It imports `name_resolution`.
"""
