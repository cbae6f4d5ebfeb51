"""Key sets that are collected after a commit, before a query asks for them.

In come records of queries and the states of tables. Out go key sets, into the filter cache. It imports
`filtering`, and no room that knows queries of callers.
"""
