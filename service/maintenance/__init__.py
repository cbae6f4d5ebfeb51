"""One maintenance's life: asked for or due, waiting for its turn, run, recorded."""
