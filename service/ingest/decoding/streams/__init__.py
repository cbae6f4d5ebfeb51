"""Streams of bytes, before anything knows their format, and what decoding is asked for.

In come compressed bytes of unknown length; out go decompressed bytes and blocks of complete lines, within
the operator's bounds. The plan of decoding and the rows that it gives are defined here, since all formats
share them. The room imports only the model.
"""
