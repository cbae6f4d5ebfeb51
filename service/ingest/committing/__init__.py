"""What the ingest log has accepted gets into its table: one snapshot a table and branch in each round."""
