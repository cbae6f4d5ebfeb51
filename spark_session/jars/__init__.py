"""The jars that the engine needs, fetched once and kept, and a jar of our own classes, compiled once.

Input is the settings; output is paths of jars. The bytes of a fetched jar are known in advance; our classes
are compiled from the sources in `java`. Nothing here imports pyspark, so that jars come before the engine.
"""
