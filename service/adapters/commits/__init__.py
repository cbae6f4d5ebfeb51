"""What changes an Iceberg table: snapshots of commit rounds, new tables, other schemas."""
