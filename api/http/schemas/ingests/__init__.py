"""Ingests and streams, and the parts of their bodies that say how a table is made."""
