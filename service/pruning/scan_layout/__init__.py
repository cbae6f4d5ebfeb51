"""What a table's layout says about pruning its scans.

In come facts of one table: its partitions, sort order, size and formats; out goes whether a filter on a
column can skip files, whether collecting its keys is worth the cost, and how the pruned scan is cut into
tasks. The room imports only the model.
"""
