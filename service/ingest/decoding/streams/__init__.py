"""Streams of bytes before their format is known, and the plan and the result of decoding.

The inputs are compressed bytes of unknown length. The outputs are decompressed bytes and blocks of complete
lines, within the operator's bounds. The plan of decoding and the resulting rows are defined here, because all
formats share them. The room imports only the model.
"""
