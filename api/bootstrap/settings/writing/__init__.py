"""Writes, their sources and bounds, and the maintenance of tables."""
