"""Rows read out of data files that belong to no table yet.

In come files that a write has left; out go their rows, with columns found by field id. Rewriting files for
a commit needs them. The room imports `plan` and `layout`.
"""
