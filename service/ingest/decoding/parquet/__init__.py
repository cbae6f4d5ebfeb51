"""The layout of a Parquet file, read before Arrow reads the file.

In come a file's footer and page headers; out goes a plan by which no more of the file is in memory at once
than the bounds allow, and the moments that it holds as INT96. The room imports `values` and `streams`.
"""
