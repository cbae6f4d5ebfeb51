"""Data files of Iceberg tables, written without a catalog: here, or on any machine that has this package."""
