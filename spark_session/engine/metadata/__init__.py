"""Statements that ask what catalogs have: SHOW, DESCRIBE and EXPLAIN.

Spark's parser reads the statement, and Spark answers it. The principal gets the rows that it may see, with
the values that it may see. May import the sessions and the checks of queries.
"""
