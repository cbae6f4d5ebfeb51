"""Lets Spark read a catalog's files through the cache of files in its JVM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_CACHING = "sluice.files.CachingFileIO"
_NATIVELY_READ = "sluice.files.NativelyReadFileIO"
# Comet reaches the files of these by its own client.
_REACHED_NATIVELY = frozenset(
    {
        "org.apache.iceberg.hadoop.HadoopFileIO",
        "org.apache.iceberg.io.ResolvingFileIO",
        "org.apache.iceberg.aws.s3.S3FileIO",
        "org.apache.iceberg.gcp.gcs.GCSFileIO",
        "org.apache.iceberg.azure.adlsv2.ADLSFileIO",
    }
)
_PREFIX = "sluice.file-cache"
_FROM_HADOOP = "org.apache.iceberg.hadoop.HadoopFileIO"
# Each of Iceberg's catalogs uses this one if it is given no other.
_DEFAULTS: Mapping[str, str] = {
    "sql": _FROM_HADOOP,
    "hive": _FROM_HADOOP,
    "rest": "org.apache.iceberg.io.ResolvingFileIO",
    "glue": "org.apache.iceberg.aws.s3.S3FileIO",
}
_MANIFEST_CACHE = "io.manifest.cache-enabled"


@dataclass(frozen=True, slots=True)
class FileCacheBounds:
    """Bounds of the cache in bytes: of all files together, and of the largest file of each kind."""

    max_bytes: int
    max_metadata_file_bytes: int
    max_data_file_bytes: int


def with_file_cache(
    name: str,
    catalog: Mapping[str, str],
    spark: Mapping[str, str],
    bounds: FileCacheBounds,
    spark_conf: Mapping[str, str] = MappingProxyType({}),
    *,
    has_comet: bool = False,
) -> dict[str, str]:
    """Returns Spark's properties of a catalog whose files are cached; with 0 bytes, the same as given.

    `catalog` has its properties in PyIceberg's names, and `spark` those that
    `spark_catalog_properties` made of them. `spark_conf` has the operator's other properties of Spark:
    an `io-impl` among them is in effect if the catalog has none. With Comet, data files that it can reach are
    not read through the cache: it reads them itself.

    >>> bounds = FileCacheBounds(1000, 100, 10)
    >>> lake = {"type": "rest", "uri": "http://catalog"}
    >>> cached = with_file_cache("lake", lake, {"spark.sql.catalog.lake.type": "rest"}, bounds)
    >>> cached["spark.sql.catalog.lake.io-impl"]
    'sluice.files.CachingFileIO'
    >>> cached["spark.sql.catalog.lake.sluice.file-cache.io-impl"]
    'org.apache.iceberg.io.ResolvingFileIO'
    """
    if bounds.max_bytes == 0:
        return dict(spark)
    chosen = f"spark.sql.catalog.{name}.io-impl"
    of_catalog = spark.get(chosen) or spark_conf.get(chosen) or _DEFAULTS[catalog["type"]]
    own = {
        "io-impl": _NATIVELY_READ if has_comet and of_catalog in _REACHED_NATIVELY else _CACHING,
        f"{_PREFIX}.io-impl": of_catalog,
        f"{_PREFIX}.catalog": name,
        f"{_PREFIX}.max-bytes": str(bounds.max_bytes),
        f"{_PREFIX}.max-metadata-file-bytes": str(bounds.max_metadata_file_bytes),
        f"{_PREFIX}.max-data-file-bytes": str(bounds.max_data_file_bytes),
    }
    if _MANIFEST_CACHE not in catalog:
        # Manifests would be in memory twice.
        own[_MANIFEST_CACHE] = "false"
    return dict(spark) | {f"spark.sql.catalog.{name}.{key}": value for key, value in own.items()}
