"""Reads records of CSV with a header, as in RFC 4180.

The inputs are blocks of text, the outputs are rows. The room imports `values` and `streams`.
"""
