"""Tests the facts that a schema alone decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType, StructType

from service.adapters.catalogs.table_facts import table_facts
from service.model.tables.tables import TableName

NAME = TableName("lake", "s", "t")
PLACE = StructType(
    NestedField(5, "country", StringType(), required=True), NestedField(6, "city", StringType())
)
COLUMNS = (
    NestedField(1, "place", PLACE, required=True),
    NestedField(2, "day", LongType(), required=True),
    NestedField(3, "id", LongType(), required=True),
    NestedField(4, "note", StringType()),
)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[SqlCatalog]:
    with closing(SqlCatalog("lake", uri="sqlite:///:memory:", warehouse=tmp_path.as_uri())) as made:
        made.create_namespace("s")
        yield made


@pytest.mark.parametrize(
    ("identifiers", "fields", "key"),
    [
        ([], (), ()),
        ([3, 2], ("day", "id"), ("day", "id")),
        ([5], ("place.country",), ()),
        ([5, 3], ("id", "place.country"), ()),
    ],
    ids=["none", "columns", "in a struct", "both"],
)
def test_identifier_fields_are_in_the_order_of_columns(
    catalog: SqlCatalog, identifiers: list[int], fields: tuple[str, ...], key: tuple[str, ...]
) -> None:
    table = catalog.create_table("s.t", Schema(*COLUMNS, identifier_field_ids=identifiers))
    facts = table_facts(NAME, table)
    assert (facts.identifier_fields, facts.key_columns) == (fields, key)


def test_identifier_fields_have_their_names_of_now(catalog: SqlCatalog) -> None:
    table = catalog.create_table("s.t", Schema(*COLUMNS, identifier_field_ids=[3]))
    with table.update_schema() as update:
        update.rename_column("id", "number")
        update.move_first("id")
    assert table_facts(NAME, catalog.load_table("s.t")).identifier_fields == ("number",)
