"""Bodies of requests on their way to executors.

Input: byte streams that are too large for memory. Output: files on the local disk or in a table's storage,
which are deleted once they have been read. The room imports `data_files` and `disk`.
"""
