"""Statements that write: vetted and analyzed like queries, allowed by policies, and run exactly once."""
