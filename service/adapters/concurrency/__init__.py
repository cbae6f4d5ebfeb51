"""Bounds for concurrent work of many threads.

Input: calls that may hang, and values that many threads need. Output: results within a time limit, one call
shared by all who wait for it, and a cache bounded by entries and bytes. The room imports only the model.
"""
