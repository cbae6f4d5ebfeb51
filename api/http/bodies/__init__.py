"""Bodies of requests on their way in: bounded, decompressed, and told apart by their types."""
