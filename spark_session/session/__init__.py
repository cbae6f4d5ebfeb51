"""One warm session, and the child sessions that queries run in.

Input is settings and a JVM; output is a session with its guard against statements that are not queries, its
parameters, its catalogs, its cached relations and its Python workers. The room imports `results`, `java`,
`settings` and `bounds`.
"""
