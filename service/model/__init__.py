"""Frozen value types in the field's own terms."""
