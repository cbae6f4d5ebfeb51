"""Changes to the query's text besides its filters.

In come a query and its graphs; out go the small tables whose rows may be read from memory, the joins that a
filter can replace, and whether the engine's own pruning finds fewer keys than the filter. The room imports
`build_side`, `sql_text` and what lies below them.
"""
