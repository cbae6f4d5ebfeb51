"""What a run gives back: rows as Arrow, columns, and what its scans read.

In comes a planned or an executed frame; out go Arrow tables without copies where that is possible, the
types and the lineage of the columns, and selected of total for every scan. The room imports `java` and
`settings`.
"""
