"""A catalog's files are read through the cache only if it has a size, and by the catalog's own `FileIO`."""

from __future__ import annotations

import re

import pytest

from service.adapters.catalogs.spark_catalog_properties import spark_catalog_properties
from service.adapters.catalogs.spark_file_cache import FileCacheBounds, with_file_cache
from spark_session.jars.compiled_classes import SOURCES

BOUNDS = FileCacheBounds(max_bytes=1_000, max_metadata_file_bytes=200, max_data_file_bytes=100)
PREFIX = "spark.sql.catalog.lake."
BLOCKS = {
    "sql": {"type": "sql", "uri": "sqlite:////c.db", "warehouse": "file:///lake"},
    "s3": {"type": "sql", "uri": "sqlite:////c.db", "warehouse": "s3://lake/w"},
    "rest": {"type": "rest", "uri": "http://catalog"},
    "hive": {"type": "hive", "uri": "thrift://metastore:9083"},
    "glue": {"type": "glue", "warehouse": "s3://lake/w"},
    "own": {"type": "rest", "uri": "http://catalog", "io-impl": "com.example.FileIO"},
}
OWN = {
    "sql": "org.apache.iceberg.hadoop.HadoopFileIO",
    "s3": "org.apache.iceberg.aws.s3.S3FileIO",
    "rest": "org.apache.iceberg.io.ResolvingFileIO",
    "hive": "org.apache.iceberg.hadoop.HadoopFileIO",
    "glue": "org.apache.iceberg.aws.s3.S3FileIO",
    "own": "com.example.FileIO",
}


def spark(block: dict[str, str], bounds: FileCacheBounds = BOUNDS) -> dict[str, str]:
    return with_file_cache("lake", block, spark_catalog_properties("lake", block), bounds)


@pytest.mark.parametrize("kind", BLOCKS)
def test_without_bytes_nothing_changes(kind: str) -> None:
    assert spark(BLOCKS[kind], FileCacheBounds(0, 200, 100)) == spark_catalog_properties("lake", BLOCKS[kind])


@pytest.mark.parametrize("kind", BLOCKS)
def test_the_catalogs_own_file_io_reads_what_is_not_cached(kind: str) -> None:
    before, found = spark_catalog_properties("lake", BLOCKS[kind]), spark(BLOCKS[kind])
    changed = {key.removeprefix(PREFIX): value for key, value in found.items() if before.get(key) != value}
    assert changed == {
        "io-impl": "sluice.files.CachingFileIO",
        "sluice.file-cache.io-impl": OWN[kind],
        "sluice.file-cache.catalog": "lake",
        "sluice.file-cache.max-bytes": "1000",
        "sluice.file-cache.max-metadata-file-bytes": "200",
        "sluice.file-cache.max-data-file-bytes": "100",
        # It would cache the same manifests again.
        "io.manifest.cache-enabled": "false",
    }
    assert before.keys() <= found.keys()


def test_a_cache_of_manifests_that_the_operator_wants_stays() -> None:
    found = spark(BLOCKS["rest"] | {"io.manifest.cache-enabled": "true"})
    assert found[f"{PREFIX}io.manifest.cache-enabled"] == "true"


def test_a_file_io_among_the_properties_of_spark_stays() -> None:
    conf = {f"{PREFIX}io-impl": "com.example.FileIO", "spark.sql.catalog.other.io-impl": "com.example.Other"}

    def own(kind: str) -> str:
        block = BLOCKS[kind]
        found = with_file_cache("lake", block, spark_catalog_properties("lake", block), BOUNDS, conf)
        return found[f"{PREFIX}sluice.file-cache.io-impl"]

    assert own("sql") == "com.example.FileIO"
    # Those of the catalog itself take precedence, as without the cache.
    assert own("s3") == "org.apache.iceberg.aws.s3.S3FileIO"


@pytest.mark.parametrize("kind", BLOCKS)
def test_comet_may_read_around_icebergs_own_file_io_only(kind: str) -> None:
    block = BLOCKS[kind]
    found = with_file_cache("lake", block, spark_catalog_properties("lake", block), BOUNDS, has_comet=True)
    chosen = "CachingFileIO" if kind == "own" else "NativelyReadFileIO"
    assert found[f"{PREFIX}io-impl"] == f"sluice.files.{chosen}"
    assert found[f"{PREFIX}sluice.file-cache.io-impl"] == OWN[kind]


def test_the_names_are_those_that_the_class_reads() -> None:
    source = (SOURCES / "sluice" / "files" / "CachingFileIO.java").read_text(encoding="utf-8")
    read = set(re.findall(r'"(sluice\.file-cache\.[a-z-]+)"', source))
    given = {key.removeprefix(PREFIX) for key in spark(BLOCKS["rest"]) if "sluice.file-cache." in key}
    assert given == read
