"""From what the gateway returns to what the caller asked for by Accept and by page.

In come a query's status, its rows or a list; out go the one shape of answer, rows as they are, and tokens
of pages. The room imports `schemas`, `rendering` and `problems`.
"""
