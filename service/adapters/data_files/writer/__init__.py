"""Writes rows into data files; the gateway and every executor run it.

Input: Arrow batches by target, and bounds of memory. Output: data files and, for upserts, delete files, each
described in Iceberg's JSON. The room imports `plan`, `metrics` and `layout`.
"""
