"""What the warm session is built from.

In come the gateway's settings; out go Spark's properties, the folders of Parquet files that become tables,
and which versions of Spark may run here. The room imports `bounds` and `resources`.
"""
