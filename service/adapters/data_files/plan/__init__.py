"""Everything that is decided before the first row is written.

In come a table's state, which travels to executors, and its properties; out goes a plan of what the files
of one target look like and where they lie. Plans are cached. The room imports `metrics` and `layout`.
"""
