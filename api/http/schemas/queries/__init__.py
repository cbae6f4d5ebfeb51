"""Queries, their results, progress and explanations, and sessions."""
