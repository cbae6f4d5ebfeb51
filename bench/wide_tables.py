"""Empty wide log tables, one for each writer."""

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
# The same for all writers: the gateway's own defaults, and nothing that would slow a peer down.
PROPERTIES = {
    "format-version": "2",
    "write.parquet.compression-codec": "zstd",
    "write.parquet.compression-level": "3",
    "write.spark.accept-any-schema": "false",
}


def make_table(lake: Lake, name: str, *, is_partitioned: bool = False) -> str:
    """Makes a new empty table in place of one with this name; returns its full name."""
    spec = BY_TYPE if is_partitioned else UNPARTITIONED_PARTITION_SPEC
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        if catalog.table_exists(f"{SCHEMA}.{name}"):
            # To purge it, PyIceberg would read every file of hundreds of snapshots, for minutes.
            folder = urlsplit(catalog.load_table(f"{SCHEMA}.{name}").location()).path
            catalog.drop_table(f"{SCHEMA}.{name}")
            shutil.rmtree(folder)
        catalog.create_table(f"{SCHEMA}.{name}", log_schema(), partition_spec=spec, properties=PROPERTIES)
    return f"lake.{SCHEMA}.{name}"
