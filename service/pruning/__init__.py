"""Decides which scans of a query may be pruned, by which keys, and how the rewritten query says it.

The package is pure: it works on syntax trees and model types, and does no I/O. `detect` is the way in. It
asks `join_graph` how each SELECT joins its relations, `candidates` which of these joins may filter a scan,
`build_side` for the query that collects the keys, and `rewrites` for the joins and tables that the query can
do without. `sql_text` and `name_resolution` come before it: they parse a text and resolve its names.
`predicates` comes after it: it turns collected keys into conditions. `plans` describes the result.
"""
