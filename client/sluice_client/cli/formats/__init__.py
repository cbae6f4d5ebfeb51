"""The formats of rows: table, vertical, markdown for people; csv, json, jsonl, arrow, parquet for programs.

Columns and rows come in, piece by piece; text or bytes go out. No format holds a whole result.
"""
