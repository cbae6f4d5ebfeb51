"""Ingests and streams."""
