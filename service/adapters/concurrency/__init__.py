"""Bounds for what many threads do at once.

In come calls that may hang and values that many threads want; out go results within a time, one call shared
by all who wait for it, and a cache bounded by entries and bytes. The room imports only the model.
"""
