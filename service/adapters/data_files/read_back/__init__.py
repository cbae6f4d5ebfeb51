"""Reads rows from data files that do not belong to a table yet.

Input: files that a write has left. Output: their rows, with columns found by field id. They are needed to
rewrite files for a commit. The room imports `plan` and `layout`.
"""
