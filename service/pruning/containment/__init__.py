"""Containment of key sets: does one filter select only rows that another one selects too?

Conditions that are certain to mean one set of values become a `ColumnSet`. All others are compared by their
texts alone.
"""
