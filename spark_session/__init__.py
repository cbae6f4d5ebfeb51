"""All that imports pyspark: the warm session, its child sessions, and what a run tells of its scans."""
