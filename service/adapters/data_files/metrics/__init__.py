"""What a data file's metadata says about its columns.

In come the footer of a Parquet file and its partition; out go counts, sizes and bounds of each column, and
the file's entry in Iceberg's JSON. The room imports `layout`.
"""
