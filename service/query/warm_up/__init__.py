"""Queries of the last days run again, so that the first callers of a new engine find it warm."""
