"""Rows into data files: the gateway and every executor run it.

In come Arrow batches by target and bounds of memory; out go data files and, for upserts, files of deletes,
each described in Iceberg's JSON. The room imports `plan`, `metrics` and `layout`.
"""
