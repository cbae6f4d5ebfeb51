"""The results that are kept for reuse, and how to find them."""
