"""Dataset names: the same for the same table, different for different ones, and without secrets."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.adapters.lineage.dataset_names import DatasetName, DatasetNames, catalog_namespace, file_dataset
from service.adapters.lineage.facets import table_facets
from service.adapters.lineage.lineage_tables import KnownTable
from service.model.tables.tables import TableName

PARTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
HOSTS = st.from_regex(r"[a-z][a-z0-9-]{0,20}(\.[a-z]{2,5})?(:[1-9][0-9]{0,4})?", fullmatch=True)
TABLES = st.builds(TableName, st.sampled_from(["lake", "other"]), PARTS, PARTS)
CATALOGS = {
    "lake": {"type": "rest", "uri": "https://catalog.example"},
    "other": {"type": "sql", "uri": "postgresql://u:p@db/x", "warehouse": "s3://other/tables"},
}
SECRET = "hunter2"


@given(TABLES)
def test_a_table_has_its_full_name_in_its_catalog(table: TableName) -> None:
    name = DatasetNames(CATALOGS, "sluice").of(table)
    assert name.name == f"{table.catalog}.{table.schema}.{table.table}"
    assert name.namespace == {"lake": "https://catalog.example", "other": "s3://other/tables"}[table.catalog]


@given(TABLES)
def test_a_table_of_a_catalog_that_says_no_address_is_in_the_gateways_namespace(table: TableName) -> None:
    assert DatasetNames({}, "analytics").of(table) == DatasetName("analytics", str(table))


@given(
    st.sampled_from(["rest", "hive", "sql", "glue", "hadoop", "dynamodb", ""]),
    st.sampled_from(["https", "http", "thrift", "postgresql", "s3", "hdfs", "file", "nonsense"]),
    HOSTS,
    PARTS,
)
def test_no_namespace_tells_a_user_a_password_or_a_parameter(
    kind: str, scheme: str, host: str, path: str
) -> None:
    address = f"{scheme}://{SECRET}:{SECRET}@{host}/{quote(path, safe='')}?token={SECRET}#{SECRET}"
    for properties in ({"type": kind, "uri": address}, {"type": kind, "warehouse": address, "uri": address}):
        namespace = catalog_namespace(properties)
        assert namespace is None or SECRET not in namespace
    dataset = file_dataset(address)
    assert dataset is None or SECRET not in dataset.namespace + dataset.name


@given(st.text(max_size=60))
def test_whatever_an_address_is_there_is_a_name_or_none(address: str) -> None:
    for found in (file_dataset(address), catalog_namespace({"type": "rest", "uri": address})):
        assert found is None or found


@pytest.mark.parametrize(
    ("address", "namespace", "name"),
    [
        ("s3://lake/shop/sales", "s3://lake", "shop/sales"),
        ("s3a://lake/shop/sales/", "s3://lake", "shop/sales"),
        ("gs://lake/shop", "gs://lake", "shop"),
        ("hdfs://node:8020/lake/shop", "hdfs://node:8020", "/lake/shop"),
        (
            "abfss://lake@account.dfs.core.windows.net/shop",
            "abfss://lake@account.dfs.core.windows.net",
            "shop",
        ),
        ("file:///lake/shop", "file", "/lake/shop"),
        ("/lake/shop", "file", "/lake/shop"),
        ("kafka://one:9092/logs", "kafka://one:9092", "logs"),
    ],
)
def test_files_and_topics_are_named_as_the_conventions_say(address: str, namespace: str, name: str) -> None:
    assert file_dataset(address) == DatasetName(namespace, name)


def test_a_table_has_the_names_too_that_other_producers_give_it() -> None:
    name = DatasetNames(CATALOGS, "sluice").of(TableName("lake", "shop", "sales"))
    symlinks = table_facets(name, KnownTable((), "s3a://bucket/shop/sales"), 7)["symlinks"]
    found = [(identifier.namespace, identifier.name, identifier.type) for identifier in symlinks.identifiers]  # type: ignore[attr-defined]
    assert found == [
        ("s3://bucket", "shop/sales", "LOCATION"),
        ("https://catalog.example", "shop.sales", "TABLE"),
    ]
