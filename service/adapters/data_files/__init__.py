"""Writes data files of Iceberg tables without a catalog: here, or on any machine with this package."""
