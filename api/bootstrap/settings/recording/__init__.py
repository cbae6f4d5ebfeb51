"""Where records, lineage and traces go."""
