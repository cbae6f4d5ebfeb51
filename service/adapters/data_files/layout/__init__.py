"""Brings rows into the order and the types of data files.

Input: batches of Arrow, and a table's schema, partition spec and sort order. Output: the same rows in a
file's types, split by partition and sorted. The room imports only the model and the catalogs' schemas.
"""
