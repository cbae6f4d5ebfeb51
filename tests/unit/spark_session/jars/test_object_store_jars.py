"""The cases in which Iceberg's bundle for S3 is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from spark_session.jars.object_store_jars import missing_bundle, object_store_jars

RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
BUNDLE = "org.apache.iceberg:iceberg-aws-bundle:1.12.0"
OTHER = "org.postgresql:postgresql:42.7.8"


@pytest.mark.parametrize(
    ("catalog", "is_fetched"),
    [
        ({"type": "sql", "warehouse": "file:///warehouse"}, False),
        ({"type": "sql", "warehouse": "hdfs://host/warehouse"}, False),
        ({"type": "sql", "warehouse": "gs://bucket/warehouse"}, False),
        ({"type": "rest", "uri": "https://catalog", "warehouse": "prod"}, False),
        ({"type": "hive", "uri": "thrift://host", "client.pool.cache.eviction-interval-ms": "1"}, False),
        ({"type": "sql", "warehouse": "s3://bucket/warehouse"}, True),
        ({"type": "hive", "warehouse": "s3a://bucket/warehouse"}, True),
        ({"type": "glue"}, True),
        ({"type": "rest", "uri": "https://catalog", "s3.region": "eu-west-1"}, True),
        ({"type": "rest", "uri": "https://catalog", "client.region": "eu-west-1"}, True),
    ],
)
def test_the_bundle_is_fetched_where_a_catalog_names_s3(catalog: Mapping[str, str], is_fetched: bool) -> None:
    catalogs = [{"type": "sql"}, catalog]
    assert missing_bundle((RUNTIME, OTHER), catalogs) == (BUNDLE if is_fetched else None)


def test_what_the_operator_names_stays_as_it_is() -> None:
    own = (RUNTIME, "org.apache.iceberg:iceberg-aws-bundle:1.11.0")
    assert missing_bundle(own, [{"warehouse": "s3://a"}]) is None
    # Without Iceberg's runtime among the jars, the bundle's version is not known.
    assert missing_bundle((OTHER,), [{"warehouse": "s3://a"}]) is None


def test_without_s3_nothing_is_fetched(tmp_path: Path) -> None:
    assert object_store_jars((RUNTIME,), [{"warehouse": "file:///warehouse"}], tmp_path) == ()
    assert not list(tmp_path.iterdir())
