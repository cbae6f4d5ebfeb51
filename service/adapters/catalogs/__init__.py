"""Iceberg's catalogs, through PyIceberg: opened, queried, and their metadata parsed once."""
