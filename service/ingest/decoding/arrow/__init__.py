"""Batches of Arrow, from an Arrow stream or a Parquet file, to rows.

In come untrusted bytes; out go rows whose columns are matched by name. Each message is measured before
memory is taken for it, and each batch is checked before it is read. The room imports `parquet`, `values`
and `streams`.
"""
