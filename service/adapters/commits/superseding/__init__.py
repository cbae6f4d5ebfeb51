"""Rows of a round that a later upsert of the same round replaces, found by their keys and left out.

In come the write results of a round, in the order in which they count; out go the same without those rows.
"""
