"""Answers to the questions of drivers: catalogs, tables, types and abilities."""
