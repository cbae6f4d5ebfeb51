"""Explains a query's plan to callers, before it runs and after.

Input is a query's record, or a text that is only planned; output is an `Explanation` with its plans. Planning
has its own workers, so it never takes a turn from running queries. The room imports `lookup`,
`workers` and `filtering`.
"""
