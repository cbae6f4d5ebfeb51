"""Reads batches of Arrow, from an Arrow stream or a Parquet file, as rows.

The inputs are untrusted bytes. The outputs are rows whose columns are matched by name. Each message is
measured before memory is allocated for it, and each batch is checked before it is read. The room imports
`parquet`, `values` and `streams`.
"""
