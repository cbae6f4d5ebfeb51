"""Changes to the query's text besides its filters.

Input: a query and its graphs. Output: the small tables whose rows may be read from memory, the joins that a
filter can replace, and whether the engine's own pruning finds fewer keys than the filter. The room imports
`build_side`, `sql_text` and what lies below them.
"""
