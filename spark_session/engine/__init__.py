"""The engine's ports: queries, plans, views, tables, relations, row deltas and maintenance.

In come calls of the service; out go results and errors in the gateway's own terms. `engine` keeps one
session alive and starts another when it is lost; everything else asks it for the session of now. The room
imports `session`, `supervision` and what lies below them.
"""
