"""Ingests: records become the body of a request, the request is sent, and its commit is awaited.

Dictionaries, Arrow, data frames and files come in; the snapshots of their tables go out.
"""
