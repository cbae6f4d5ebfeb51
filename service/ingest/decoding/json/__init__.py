"""Reads records of JSON: one object a line, or an array in a request's body.

The inputs are lines of JSON, the outputs are rows. Arrow reads many lines at once where this certainly gives
the same values; otherwise they are read one by one. The room imports `values` and `streams`.
"""
