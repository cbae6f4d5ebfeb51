"""The life of one maintenance: requested or due, waiting for its turn, run, recorded."""
