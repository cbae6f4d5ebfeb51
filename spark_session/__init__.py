"""All code that imports pyspark: the warm session, its child sessions, and the reports on their scans."""
