"""Records that do not fit their table, on their way to a table of rejected records.

In come decoded rows and records with their faults; out go the rows to write, the rows of dead letters,
their counts by table, and which of both may share one snapshot. The room imports `decoding`, `request_rows`
and `write_schema`.
"""
