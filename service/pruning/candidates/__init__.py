"""Which equalities of a join may filter a scan, and which keys do they need?

In come join graphs; out go candidates: a column of the probe, the column or expression of the build side
that it is compared with, and the plan by which the keys become values of the probe's type. One module finds
the candidates of one kind of join, and none knows another kind, except that `computed_join` reads
`semi_join`. The room imports `join_graph` and `name_resolution`.
"""
