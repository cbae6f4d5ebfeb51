"""Real TPC-DS data as Iceberg tables, from the official generator's Java port; loaded once."""
