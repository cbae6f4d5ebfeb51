"""How the SELECTs of a query join their relations, down to the tables below them.

Input: a resolved query and the facts of its tables. Output: graphs of relations and equalities, the
conditions that hold for every row, the columns of tables that a derived column comes from, and the tables
that have no graph at all. Candidates and build sides are found on these graphs. The room imports
`name_resolution`, `conditions` and `scan_layout`.
"""
