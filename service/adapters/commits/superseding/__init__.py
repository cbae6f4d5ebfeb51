"""Leaves out rows of a round that a later upsert of the same round replaces, found by their keys.

Input: the write results of a round, in the order in which they apply. Output: the same results without those
rows.
"""
