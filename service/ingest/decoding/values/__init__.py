"""Converts values of records to values of columns: exactly, or not at all.

The inputs are values as JSON, text or Arrow spell them, and the types of columns. The outputs are Arrow
arrays, and a reason for each value that the type cannot hold or that has no partition. The room imports
`streams`.
"""
