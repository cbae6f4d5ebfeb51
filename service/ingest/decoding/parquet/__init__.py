"""Reads the layout of a Parquet file before Arrow reads the file.

The inputs are a file's footer and page headers. The outputs are a plan that keeps the part of the file in
memory within the bounds, and the moments that the file holds as INT96. The room imports `values` and
`streams`.
"""
