"""Which of Iceberg's bundles are fetched, and which are not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from spark_session.object_store_packages import with_object_stores

RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
OTHER = "org.postgresql:postgresql:42.7.8"


@pytest.mark.parametrize(
    ("catalog", "bundles"),
    [
        ({"type": "sql", "warehouse": "file:///warehouse"}, ()),
        ({"type": "sql", "warehouse": "hdfs://host/warehouse"}, ()),
        ({"type": "rest", "uri": "https://catalog", "warehouse": "prod"}, ()),
        ({"type": "hive", "uri": "thrift://host", "client.pool.cache.eviction-interval-ms": "1"}, ()),
        ({"type": "sql", "warehouse": "s3://bucket/warehouse"}, ("iceberg-aws-bundle",)),
        ({"type": "hive", "warehouse": "s3a://bucket/warehouse"}, ("iceberg-aws-bundle",)),
        ({"type": "glue"}, ("iceberg-aws-bundle",)),
        ({"type": "rest", "uri": "https://catalog", "s3.region": "eu-west-1"}, ("iceberg-aws-bundle",)),
        ({"type": "rest", "uri": "https://catalog", "client.region": "eu-west-1"}, ("iceberg-aws-bundle",)),
        ({"type": "sql", "warehouse": "gs://bucket/warehouse"}, ("iceberg-gcp-bundle",)),
        ({"type": "rest", "gcs.project-id": "p"}, ("iceberg-gcp-bundle",)),
        ({"type": "sql", "warehouse": "abfss://c@a.dfs.core.windows.net/w"}, ("iceberg-azure-bundle",)),
    ],
)
def test_a_bundle_is_added_for_each_store_that_a_catalog_names(
    catalog: Mapping[str, str], bundles: tuple[str, ...]
) -> None:
    expected = tuple(f"org.apache.iceberg:{each}:1.12.0" for each in bundles)
    assert with_object_stores((RUNTIME, OTHER), [{"type": "sql"}, catalog]) == (RUNTIME, OTHER, *expected)


def test_of_several_catalogs_each_bundle_is_added_once() -> None:
    catalogs = [{"warehouse": each} for each in ("s3://a", "s3://b", "gs://c")]
    added = with_object_stores((RUNTIME,), catalogs)[1:]
    assert [each.split(":")[1] for each in added] == ["iceberg-aws-bundle", "iceberg-gcp-bundle"]


def test_what_the_operator_names_stays_as_it_is() -> None:
    own = (RUNTIME, "org.apache.iceberg:iceberg-aws-bundle:1.11.0")
    assert with_object_stores(own, [{"warehouse": "s3://a"}]) == own
    # Of which version the bundle had to be is not known then.
    assert with_object_stores((OTHER,), [{"warehouse": "s3://a"}]) == (OTHER,)
