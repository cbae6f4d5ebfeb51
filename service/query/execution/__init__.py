"""Runs one query, from its checked text to its outcome.

`run_query` is the order of the steps: it checks the text, prunes it, asks for admission, runs it, falls
back to the caller's own text where the pruned one fails, verifies, and hands the outcome to the query's
handle. In comes a `QueryHandle`; out come rows in the result store, and a record. The room imports
`registry`, `reuse` and `filtering`.
"""
