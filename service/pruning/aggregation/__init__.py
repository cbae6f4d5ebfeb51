"""Splits an aggregation into a state that can be kept and merged, and what the query makes of it.

The parts stay the caller's own text: nothing is written again from a tree. Pure, like all of pruning.
"""
