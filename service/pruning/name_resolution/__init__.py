"""Which table and which column does each name of a query mean?

Input: a parsed query. Output: a tree in which every column names its relation and every table its catalog, or
the answer that the query is not understood well enough to be pruned. The room also pins tables to snapshots
and reads how joins are nested. It imports only `conditions` and the model.
"""
