"""From collected keys to the predicate on the probe's scan.

In come the keys of a filter and what the probe's files can hold; out goes the cheapest predicate that is
true of every key, as a tree: a list, ranges, or a combination of several columns. The room imports only the
model.
"""
