"""Large inputs, which executors read and write.

The input is a source, a large body or a micro-batch. The outputs are tasks that travel to executors, and the
write results that they return, combined in the order of the input. Executors run the same `decoding` as the
gateway. The room imports `decoding`, `dead_letters` and `write_schema`.
"""
