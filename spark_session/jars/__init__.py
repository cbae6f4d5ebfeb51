"""The jars that Spark, Iceberg, Kafka and the object stores need, fetched once and kept.

Input is the settings; output is paths of jars whose bytes are known in advance. Nothing here imports pyspark,
so that jars can be fetched before the engine starts.
"""
