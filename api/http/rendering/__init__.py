"""Converts Arrow tables to bytes by pure functions: the same rows give the same bytes."""
