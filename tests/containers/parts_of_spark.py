"""Checks, inside the image, the features that its reduced Spark must keep; prints `kept` at the end.

`test_image.py` runs this.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

folder = Path(tempfile.mkdtemp())
memory = "jdbc:derby:memory:metastore;create=true"
session = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "true")
    .config("spark.sql.catalogImplementation", "hive")
    .config("spark.hadoop.javax.jdo.option.ConnectionURL", memory)
    .config("spark.hadoop.datanucleus.schema.autoCreateAll", "true")
    .config("spark.hadoop.hive.metastore.schema.verification", "false")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .config("spark.driver.extraJavaOptions", f"-Dderby.stream.error.file={folder}/derby.log")
    .getOrCreate()
)
# A metastore's tables, with each codec of data files.
for codec in ("zstd", "snappy", "gzip", "lz4_raw"):
    name = f"of_{codec}"
    session.sql(
        f"CREATE TABLE {name} USING parquet OPTIONS (compression '{codec}') AS SELECT id FROM range(9)"
    )
    assert session.table(name).count() == 9
session.sql("CREATE TABLE of_hive STORED AS ORC AS SELECT id FROM range(9)")
assert session.table("of_hive").count() == 9
# A stateful stream, with each state store.
for provider in ("RocksDBStateStoreProvider", "HDFSBackedStateStoreProvider"):
    package = "org.apache.spark.sql.execution.streaming.state"
    session.conf.set("spark.sql.streaming.stateStore.providerClass", f"{package}.{provider}")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    session.range(9).write.mode("overwrite").parquet(str(folder / "source"))
    counted = session.readStream.schema("id long").parquet(str(folder / "source")).groupBy("id").count()
    running = counted.writeStream.format("memory").queryName(provider).outputMode("complete")
    running.trigger(availableNow=True).option(
        "checkpointLocation", str(folder / provider)
    ).start().awaitTermination()
    assert session.table(provider).count() == 9
# Collations, time zones, sketches, ciphers and variants load their libraries when a function is called.
session.sql(
    "SELECT 'a' COLLATE UNICODE_CI = 'A', regexp_replace('a', '[a]', 'b'), to_json(named_struct('a', 1)), "
    "from_utc_timestamp(current_timestamp(), 'Asia/Kolkata'), approx_count_distinct(1), hll_sketch_agg(1), "
    "date_format(current_date(), 'EEEE'), aes_encrypt('a', '0000111122223333'), "
    "variant_get(parse_json('{}'), '$.a')"
).collect()
# Masters are found by their class names.
for manager in ("cluster.k8s.KubernetesClusterManager", "cluster.YarnClusterManager"):
    session._jvm.java.lang.Class.forName(f"org.apache.spark.scheduler.{manager}")  # type: ignore[union-attr]
session.stop()
print("kept")  # noqa: T201
