"""Column metrics in a data file's metadata.

Input: the footer of a Parquet file and its partition. Output: counts, sizes and bounds of each column, and
the file's entry in Iceberg's JSON. The room imports `layout`.
"""
