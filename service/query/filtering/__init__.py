"""Prunes a query before it runs: detect filters, collect their keys, rewrite the text.

Input is the caller's text, the facts of its tables and the bounds for this query. Output is a `PrunedQuery`:
the text that the engine gets, and a record of every filter and every other change. The rules themselves are
in `service.pruning`; this room asks the ports for what the rules need, within bounds of time and memory. It
knows nothing of queues, callers or states.
"""
