"""Empty wide log tables, one for each that writes."""

from __future__ import annotations

import shutil
from urllib.parse import urlsplit

from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.transforms import IdentityTransform

from bench.lakehouse import Lake
from bench.tpcds_lake import open_catalog
from bench.wide_logs import log_schema

SCHEMA = "bench_ingest"
BY_TYPE = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "log_type"))
# The same for all who write: what the gateway takes by itself, and nothing that a peer would be slower with.
PROPERTIES = {
    "format-version": "2",
    "write.parquet.compression-codec": "zstd",
    "write.parquet.compression-level": "3",
    "write.spark.accept-any-schema": "false",
}


def make_table(lake: Lake, name: str, *, is_partitioned: bool = False) -> str:
    """A new, empty one in place of what had the name; its full name."""
    spec = BY_TYPE if is_partitioned else UNPARTITIONED_PARTITION_SPEC
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        if catalog.table_exists(f"{SCHEMA}.{name}"):
            # To purge it, PyIceberg would read all that hundreds of snapshots name, for minutes.
            folder = urlsplit(catalog.load_table(f"{SCHEMA}.{name}").location()).path
            catalog.drop_table(f"{SCHEMA}.{name}")
            shutil.rmtree(folder)
        catalog.create_table(f"{SCHEMA}.{name}", log_schema(), partition_spec=spec, properties=PROPERTIES)
    return f"lake.{SCHEMA}.{name}"
