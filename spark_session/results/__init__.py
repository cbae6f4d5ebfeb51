"""The results of a run: rows as Arrow, columns, and reports on its scans.

Input is a planned or an executed frame. Output is Arrow tables, without copies if possible, the types and the
lineage of the columns, and selected of total for every scan. The room imports `java` and `settings`.
"""
