"""One warm session, and the child sessions that queries run in.

In come settings and a JVM; out goes a session with everything that belongs to it: its guard against
statements that are no queries, its parameters, its catalogs, its cached relations and its Python workers.
The room imports `results`, `java`, `settings` and `bounds`.
"""
