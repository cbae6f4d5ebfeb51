"""Implements the engine's ports: queries, plans, views, tables, relations, row deltas and maintenance.

Input is calls of the service; output is results and errors in the gateway's own terms. `engine` keeps one
session alive and starts another when it is lost; everything else asks it for the current session. The room
imports `session`, `supervision` and what lies below them.
"""
