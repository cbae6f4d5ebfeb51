"""How a table's layout decides whether its scans can be pruned.

Input: facts of one table, which are its partitions, sort order, size and formats. Output: whether a filter on
a column can skip files, whether collecting its keys is worth the cost, and how the pruned scan is cut into
tasks. The room imports only the model.
"""
