"""Converts parsed requests to the gateway's own types."""
