"""What callers can learn of a query's plan, before it runs and after.

In comes a query's record, or a text that is only planned; out goes an `Explanation` with its plans.
Planning has workers of its own, so it never takes a turn from queries that run. The room imports
`lifecycle` and `filtering`.
"""
