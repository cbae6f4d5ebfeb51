"""Dead letters: records that do not fit their table, and the tables of rejected records that they go to.

The inputs are decoded rows, and records with their faults. The outputs are the rows to write, the rows of
dead letters, their counts by table, and the check which of both may share one snapshot. The room imports
`decoding`, `request_rows` and `write_schema`.
"""
