"""Rows in the order and the shape that data files have.

In come batches of Arrow and a table's schema, partition spec and sort order; out go the same rows in the
types of a file, split by partition and sorted. The room imports only the model and the catalogs' schemas.
"""
