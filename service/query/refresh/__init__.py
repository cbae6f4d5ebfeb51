"""Brings the answers of aggregations up to date from the files that were added to one table.

The state of an aggregation is kept: its groups with partial aggregates. The next query reads the new files
alone, and answers from both. The room knows queries and the engine, and no HTTP.
"""
