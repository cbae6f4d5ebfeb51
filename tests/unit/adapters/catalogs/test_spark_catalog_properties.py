"""One settings block configures a catalog for both PyIceberg and Spark."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from service.adapters.catalogs.spark_catalog_properties import spark_catalog_properties
from service.errors.gateway_error import CannotStart

SQL = {
    "type": "sql",
    "uri": "postgresql+psycopg://me:p%40ss@db:5433/lake?sslmode=require&connect_timeout=5",
    "warehouse": "s3://bucket/warehouse",
}
REST_TIMEOUTS = {
    "rest.client.connection-timeout-ms": "10000",
    "rest.client.socket-timeout-ms": "60000",
}
CACHES = {"cache-enabled": "false", "io.manifest.cache-enabled": "true"}
JDBC_TIMEOUTS = {"jdbc.connectTimeout": "10", "jdbc.loginTimeout": "10", "jdbc.socketTimeout": "60"}


def spark(properties: Mapping[str, str]) -> dict[str, str]:
    """Returns the catalog's Spark properties without their common prefix."""
    prefix = "spark.sql.catalog.lake."
    found = spark_catalog_properties("lake", properties)
    assert found.pop("spark.sql.catalog.lake") == "org.apache.iceberg.spark.SparkCatalog"
    assert all(key.startswith(prefix) for key in found)
    assert found[f"{prefix}cache-enabled"] == "false"
    return {key.removeprefix(prefix): value for key, value in found.items()}


def test_an_sql_catalog_becomes_a_jdbc_catalog_without_secrets_in_its_address() -> None:
    assert (
        spark(SQL)
        == {
            "catalog-impl": "sluice.catalogs.SqlCatalog",
            "uri": "jdbc:postgresql://db:5433/lake?sslmode=require",
            "jdbc.user": "me",
            "jdbc.password": "p@ss",
            "jdbc.connectTimeout": "5",
            "jdbc.loginTimeout": "5",
            "jdbc.socketTimeout": "60",
            "jdbc.schema-version": "V1",
            "warehouse": "s3://bucket/warehouse",
            "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        }
        | CACHES
    )


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("sqlite:////data/catalog.db", "jdbc:sqlite:/data/catalog.db"),
        ("sqlite:///catalog.db", "jdbc:sqlite:catalog.db"),
        ("postgresql://db/lake", "jdbc:postgresql://db:5432/lake"),
        ("postgresql+psycopg2://[::1]:5432/my%20lake", "jdbc:postgresql://[::1]:5432/my%20lake"),
        ("postgresql+psycopg:///lake?host=db&port=5433", "jdbc:postgresql://db:5433/lake"),
    ],
)
def test_an_address_of_sqlalchemy_becomes_one_of_jdbc(uri: str, expected: str) -> None:
    assert spark(SQL | {"uri": uri})["uri"] == expected


def test_a_rest_catalog_keeps_its_address_and_credentials() -> None:
    rest = {"type": "rest", "uri": "http://catalog:8181", "credential": "id:secret", "scope": "all"}
    assert spark(rest) == rest | REST_TIMEOUTS | CACHES


def test_a_rest_catalog_that_hangs_is_given_up() -> None:
    rest = {"type": "rest", "uri": "http://catalog:8181"}
    assert spark(rest).items() >= REST_TIMEOUTS.items()
    given = {"rest.client.connection-timeout-ms": "1", "rest.client.socket-timeout-ms": "2"}
    assert spark(rest | given).items() >= given.items()


def test_an_sql_catalog_that_hangs_is_given_up() -> None:
    address = {"uri": "postgresql+psycopg://db/lake"}
    assert spark(SQL | address).items() >= JDBC_TIMEOUTS.items()
    given = dict.fromkeys(JDBC_TIMEOUTS, "7")
    assert spark(SQL | address | given).items() >= given.items()
    file = spark(SQL | {"uri": "sqlite:////data/catalog.db"})
    assert not file.keys() & JDBC_TIMEOUTS.keys()


def test_a_hive_catalog_keeps_its_address() -> None:
    hive = {"type": "hive", "uri": "thrift://metastore:9083", "warehouse": "file:///lake"}
    assert spark(hive) == hive | CACHES


def test_a_glue_catalog_has_its_own_region_and_may_read_from_another() -> None:
    glue = {"type": "glue", "warehouse": "s3://bucket/lake", "glue.id": "123456789012"}
    found = spark(glue | {"glue.region": "eu-central-1", "s3.region": "eu-west-1"})
    assert (
        found == glue | {"client.region": "eu-central-1", "s3.cross-region-access-enabled": "true"} | CACHES
    )


def test_a_store_of_ones_own_is_reached_by_path_and_with_the_same_keys() -> None:
    store = {
        "s3.endpoint": "http://store:9000",
        "s3.access-key-id": "key",
        "s3.secret-access-key": "secret",
        "s3.session-token": "token",
    }
    found = spark(SQL | store | {"s3.region": "us-east-1"})
    assert found.items() >= (store | {"client.region": "us-east-1", "s3.path-style-access": "true"}).items()
    assert "s3.region" not in found


@pytest.mark.parametrize(("forced", "expected"), [("true", "false"), ("True", "false"), ("false", "true")])
def test_virtual_addressing_is_the_opposite_of_path_style(forced: str, expected: str) -> None:
    found = spark(SQL | {"s3.endpoint": "http://store:9000", "s3.force-virtual-addressing": forced})
    assert found["s3.path-style-access"] == expected
    assert "s3.force-virtual-addressing" not in found


def test_keys_for_all_of_aws_serve_s3_and_its_own_keys_come_first() -> None:
    shared = {"client.access-key-id": "shared", "client.secret-access-key": "secret"}
    found = spark(SQL | shared | {"s3.access-key-id": "own"})
    assert (found["s3.access-key-id"], found["s3.secret-access-key"]) == ("own", "secret")
    assert "client.access-key-id" not in found


def test_a_role_is_assumed_by_spark_too() -> None:
    found = spark(SQL | {"s3.role-arn": "arn:aws:iam::1:role/reader", "s3.region": "eu-west-1"})
    assert found["client.factory"] == "org.apache.iceberg.aws.AssumeRoleAwsClientFactory"
    assert found["client.assume-role.arn"] == "arn:aws:iam::1:role/reader"
    assert found["client.assume-role.region"] == "eu-west-1"


@pytest.mark.parametrize(
    ("warehouse", "expected"),
    [
        ("gs://bucket/lake", "org.apache.iceberg.gcp.gcs.GCSFileIO"),
        ("abfss://lake@account.dfs.core.windows.net/", "org.apache.iceberg.azure.adlsv2.ADLSFileIO"),
        ("file:///lake", None),
        ("/lake", None),
    ],
)
def test_the_warehouse_chooses_how_files_are_reached(warehouse: str, expected: str | None) -> None:
    assert spark(SQL | {"warehouse": warehouse}).get("io-impl") == expected


def test_what_the_operator_chose_for_spark_stays() -> None:
    found = spark(SQL | {"io-impl": "com.example.FileIO", "py-io-impl": "example.FileIO"})
    assert found["io-impl"] == "com.example.FileIO"
    assert "py-io-impl" not in found


@pytest.mark.parametrize("name", ["", "my-lake", "1lake", "lake.tpcds", "spark_catalog", "system", "läke"])
def test_a_name_that_spark_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(CannotStart, match=r"^Catalog "):
        spark_catalog_properties(name, SQL)


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({}, "Catalog lake: property type must be one of sql, rest, hive, glue."),
        ({"type": "dynamodb"}, "Catalog lake: property type must be one of sql, rest, hive, glue."),
        ({"type": "sql", "uri": "sqlite:////c.db"}, "Catalog lake: property warehouse is missing."),
        ({"type": "rest"}, "Catalog lake: property uri is missing."),
        ({"type": "hive", "warehouse": "w"}, "Catalog lake: property uri is missing."),
        ({"type": "glue"}, "Catalog lake: property warehouse is missing."),
    ],
)
def test_what_is_missing_is_named(properties: Mapping[str, str], sentence: str) -> None:
    with pytest.raises(CannotStart) as raised:
        spark_catalog_properties("lake", properties)
    assert raised.value.detail == sentence


@pytest.mark.parametrize(
    "uri",
    [
        "s3cret",
        "postgresql+psycopg://me:s3cret@db:port/lake",
        "mysql+pymysql://me:s3cret@db/lake",
        "postgresql+psycopg://me:s3cret@/lake?host=/run/postgresql",
        "sqlite://",
    ],
)
def test_an_address_that_jdbc_cannot_use_is_refused_without_repeating_it(uri: str) -> None:
    with pytest.raises(CannotStart, match="Catalog lake: property uri ") as raised:
        spark_catalog_properties("lake", SQL | {"uri": uri})
    assert "s3cret" not in raised.value.detail


def test_keys_that_spark_cannot_take_for_glue_are_refused() -> None:
    glue = {"type": "glue", "warehouse": "s3://b/w", "glue.access-key-id": "key"}
    with pytest.raises(CannotStart, match=r"glue\.access-key-id"):
        spark_catalog_properties("lake", glue)


def test_the_given_properties_stay_as_they_are() -> None:
    given = dict(SQL)
    spark_catalog_properties("lake", given)
    assert given == SQL
