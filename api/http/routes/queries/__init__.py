"""Queries: send, follow, cancel and explain them, and read their rows; and sessions."""
