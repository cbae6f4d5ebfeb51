"""Turns collected keys into the predicate on the probe's scan.

Input: the keys of a filter, and the values that the probe's files can hold. Output: the cheapest predicate
that is true of every key, as a tree: a list, ranges, or a combination of several columns. The room imports
only the model.
"""
