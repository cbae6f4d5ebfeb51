"""Records of CSV with a header, as RFC 4180 has them.

In come blocks of text; out go rows. The room imports `values` and `streams`.
"""
