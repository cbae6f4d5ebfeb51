"""The jars that Spark, Iceberg, Kafka and the object stores need, fetched once and kept.

In come the settings' wishes; out go paths of jars whose bytes are known beforehand. Nothing here imports
pyspark, so that jars can be fetched before the engine starts.
"""
