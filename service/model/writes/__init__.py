"""Writes by SQL: what a statement changes, and how that ended."""
