"""The rewrites of a query's text, one module for each kind.

Input: what detection found, the filters that apply and the rows in memory. Output of each pass: a `Pass`, the
changes of the text with their records. `rewrite` decides the order and writes the text.
"""
