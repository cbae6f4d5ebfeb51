"""Large inputs, read and written by executors.

In comes a source, a large body or a micro-batch; out go tasks that travel to executors, and the write
results that they bring back, put together in the input's order. Executors run the same `decoding` as the
gateway. The room imports `decoding`, `dead_letters` and `write_schema`.
"""
