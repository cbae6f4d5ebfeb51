"""Bodies of requests on their way to executors.

In come streams of bytes that are too large for memory; out go files on the local disk or in a table's
storage, which are deleted once they have been read. The room imports `data_files` and `disk`.
"""
