"""Builds the configuration of the warm session.

Input is the gateway's settings; output is Spark's properties, the folders of Parquet files that become
tables, and the versions of Spark that may run queries here. The room imports `bounds` and `resources`.
"""
