"""Writes by SQL, in the metrics store and in the snapshots of tables."""
