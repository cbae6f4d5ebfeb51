"""Iceberg's catalogs, through PyIceberg: opened, asked, and their metadata understood once."""
