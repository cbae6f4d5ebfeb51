"""Request bodies on their way in: bounded, decompressed, and sorted by content type."""
