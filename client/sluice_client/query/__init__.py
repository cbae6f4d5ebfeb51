"""Queries: what is sent to the gateway, how the end is awaited, and how a query is canceled.

A SQL text and its parameters come in; the status of a query that has succeeded goes out.
"""
