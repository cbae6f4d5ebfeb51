"""Which equalities of a join may filter a scan, and which keys do they need?

Input: join graphs. Output: candidates, which are a column of the probe, the column or expression of the build
side that it is compared with, and the plan by which the keys become values of the probe's type. Each module
finds the candidates of one kind of join and knows no other kind; only `computed_join` reads `semi_join`. The
room imports `join_graph` and `name_resolution`.
"""
