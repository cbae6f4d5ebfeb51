"""Everything that is decided before the first row is written.

Input: a table's state, which also travels to executors, and its properties. Output: a plan for the format and
the locations of one target's files. Plans are cached. The room imports `metrics` and `layout`.
"""
