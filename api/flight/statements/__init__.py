"""Statements: prepared, with values bound to them, run, and their rows as a stream."""
