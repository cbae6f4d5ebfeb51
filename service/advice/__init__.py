"""Finds a better layout of a table for the queries that were recorded.

Input: recorded scans with their predicates, and the layout of a table: the bounds of its files, and a sample
of its rows. Output: changes of the layout, each with the bytes that the same scans would read after it. It
simulates each layout as chunks of rows with bounds, and counts the chunks that each scan selects, as Iceberg
would. Trials let the engine make a change on a copy of the table, and compare what the scans select with
that. The room imports ports, model, errors and policies. It reads and writes no file.
"""
