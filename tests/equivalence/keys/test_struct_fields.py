"""Struct fields named through their relation's alias: the scan is filtered, and the rows are the same."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IcebergType, IntegerType, NestedField, StringType, StructType

from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import Layout, append, created

KEYS = 8


def struct(first_id: int) -> StructType:
    geo = StructType(
        NestedField(first_id + 1, "lat", IntegerType()), NestedField(first_id + 2, "k", IntegerType())
    )
    return StructType(
        NestedField(first_id + 3, "city", StringType()),
        NestedField(first_id + 4, "k", IntegerType()),
        NestedField(first_id + 5, "geo", geo),
    )


def value(key: int) -> Mapping[str, object]:
    """Returns a struct in which `k` differs from the column `k`."""
    return {"city": f"city {key % 3}", "k": KEYS - key, "geo": {"lat": key, "k": key // 2}}


@pytest.fixture(scope="module", autouse=True)
def shops(lake: SqlCatalog) -> None:
    """Creates a table with a partition for each key, and a dimension. A struct has an alias's name, `d`."""
    columns: Mapping[str, IcebergType] = {"k": IntegerType(), "place": struct(10), "d": struct(20)}
    rows = [{"k": key, "place": value(key), "d": value(key + 1)} for key in range(KEYS)]
    append(created(lake, "shops", columns, Layout((("k", IdentityTransform()),))), rows)
    append(created(lake, "places", columns, Layout()), rows[::2])


@pytest.mark.parametrize(
    ("sql", "selected"),
    [
        pytest.param(
            "SELECT f.place.city, count(*), max(f.place.geo.lat) FROM shops f JOIN places p ON f.k = p.k"
            " WHERE p.k < 4 AND f.place.geo.lat >= 0 GROUP BY f.place.city",
            2,
            id="in SELECT, WHERE and GROUP BY",
        ),
        pytest.param(
            "SELECT shops.place.geo.k, d.place.city FROM shops JOIN places d ON shops.k = d.k"
            " AND shops.place.k = d.place.k WHERE d.k > 2",
            2,
            id="by the table's own name, and as keys of the ON",
        ),
        pytest.param(
            "SELECT f.d.k, d.k FROM shops f JOIN places d ON f.k = d.k"
            " WHERE d.k IN (0, 6) AND f.d.k >= d.d.geo.k - 3",
            2,
            id="of a struct that has another relation's name",
        ),
        pytest.param(
            "SELECT x.city, x.k FROM (SELECT f.place.city, f.place.k, f.k AS own FROM shops f) x"
            " JOIN places d ON x.own = d.k WHERE d.k = 2 AND x.k > 0",
            1,
            id="through a derived table",
        ),
    ],
)
def test_a_scan_is_pruned_beside_fields(sql: str, selected: int, harness: Harness) -> None:
    checked = harness.check(sql)
    assert checked.written.rows.num_rows > 0
    assert not checked.is_rejected
    assert (checked.files("shops").selected, checked.files("shops").total) == (selected, KEYS), (
        checked.pruned.filters
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT f.k FROM shops f JOIN places d ON f.d.k = d.d.k AND f.k = d.place.k WHERE d.k = 4",
        "SELECT f.k FROM shops f JOIN places d ON f.k = d.k WHERE d.place.city = 'city 0'",
    ],
    ids=["as keys", "as what alone chooses the keys"],
)
def test_fields_give_no_keys(sql: str, harness: Harness) -> None:
    checked = harness.check(sql)
    assert checked.written.rows.num_rows > 0
    assert checked.applied == {}


def test_what_may_be_a_table_by_its_path_is_left_as_it_is_written(harness: Harness) -> None:
    sql = "SELECT shop.shops.k FROM shops JOIN places p ON shops.k = p.k WHERE p.k < 4"
    assert harness.check(sql).pruned.rewritten_sql is None
