"""Decides who may do what: the input is policies, a principal's roles, an action and a table.

The output is a decision, with the rows and columns that the principal sees. This package is pure: stores, and
Spark's checks of predicates, are behind ports.
"""
