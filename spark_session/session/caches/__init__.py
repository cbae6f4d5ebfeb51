"""Caches in the JVM of the Spark driver, and their use."""
