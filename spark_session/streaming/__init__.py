"""Streams, as Spark's Structured Streaming runs them, and functions that executors run.

Input is definitions of streams and functions over items; output is micro-batches in the gateway's terms,
their checkpoints, progress and failures. The room imports `session`. `partitions` runs in the Python of
executors and imports next to nothing.
"""
