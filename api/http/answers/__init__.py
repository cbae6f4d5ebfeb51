"""Builds answers in the form that the caller asked for, by Accept and by page.

Turns a query's status, its rows or a list into the common shape of answer, plain rows, or page tokens. The
room imports `schemas`, `rendering` and `problems`.
"""
