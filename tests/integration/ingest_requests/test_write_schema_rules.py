"""Every rule of `writeSchema` over HTTP: one request that breaks it, and one that all readers can read.

`test_data_files.py` has the rules of initial defaults, which tables of the writable format versions do not
have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import uuid4

import httpx
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    DateType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
)

from service.model.ingest.ingest_request import WriteRule
from tests.integration.maintenance_calls import compact
from tests.integration.readers import Row, assert_read_alike, by_duckdb, by_spark, data_files, named, path_of

pytestmark = pytest.mark.integration

STREET = NestedField(9, "street", StringType(), required=True)
GEO = StructType(NestedField(11, "lat", LongType()), NestedField(12, "lon", LongType()))
PLACE = StructType(NestedField(8, "city", StringType()), STREET, NestedField(10, "geo", GEO))
# These are the ids that a new table assigns.
STRICT = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "day", DateType()),
    NestedField(3, "note", StringType()),
    NestedField(4, "place", PLACE),
    NestedField(5, "tags", ListType(13, StringType(), element_required=False)),
    NestedField(6, "counts", MapType(14, StringType(), 15, LongType(), value_required=False)),
    NestedField(7, "level", IntegerType()),
)
LENIENT = Schema(NestedField(1, "id", LongType()), NestedField(2, "note", StringType()))
BY_DAY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day"))
BY_NOTE = SortOrder(SortField(3, IdentityTransform(), SortDirection.DESC, NullOrder.NULLS_LAST))
NOTHING: Row = dict.fromkeys(column.name for column in STRICT.fields)
DAY, ANSWERED_DAY = "2026-01-31", date(2026, 1, 31)
FIRST: Row = {"id": 1, "day": DAY}
ANSWERED = NOTHING | {"id": 1, "day": ANSWERED_DAY}

NewTable = Callable[..., Table]


@pytest.fixture
def new_table(lake: SqlCatalog) -> Iterator[NewTable]:
    """Makes tables that are dropped with the test."""
    lake.create_namespace_if_not_exists("ruled")
    names: list[str] = []

    def make(schema: Schema = STRICT, **more: Any) -> Table:
        names.append(f"ruled.t_{uuid4().hex}")
        layout = {"partition_spec": BY_DAY, "sort_order": BY_NOTE} if schema is STRICT else {}
        return lake.create_table(names[-1], schema, **{"properties": {"format-version": "2"}} | layout | more)

    yield make
    for name in names:
        lake.drop_table(name)


def send(gateway: httpx.Client, table: Table, *records: Row, **body: Any) -> httpx.Response:
    return gateway.post("/ingest", json={"table": named(table), "records": records} | body)


def json_of(*fields: tuple[int, str, Any]) -> dict[str, Any]:
    """Returns a write schema in Iceberg's JSON."""
    reported = [
        {"id": number, "name": name, "type": kind, "required": number in (1, 9)}
        for number, name, kind in fields
    ]
    return {"type": "struct", "fields": reported}


ID_AND_DAY = ((1, "id", "long"), (2, "day", "date"))
STREET_ALONE = json_of((9, "street", "string"))
A_PLACE = {"city": None, "street": "B", "geo": None}


@dataclass(frozen=True, slots=True)
class Case:
    """A rule with a request that breaks it and one that does not; `columns` are the file's, in order."""

    rule: WriteRule
    breaks: Any
    faults: list[str]
    conforms: Any
    record: Row
    row: Row
    columns: list[str]
    schema: Schema = STRICT
    more: Row = field(default_factory=dict)


CASES = {
    "unknown column": Case(
        WriteRule.UNKNOWN_COLUMN,
        ["id", "day", "levle"],
        ["levle"],
        ["level", "day", "id"],
        FIRST | {"level": -(2**31)},
        ANSWERED | {"level": -(2**31)},
        ["level", "day", "id"],
    ),
    "unknown field of a struct": Case(
        WriteRule.UNKNOWN_COLUMN,
        ["id", "day", "place.street", "place.geo.alt"],
        ["place.geo.alt"],
        ["place.geo.lon", "id", "place.street", "day"],
        FIRST | {"place": {"geo": {"lon": 5}, "street": "B"}},
        ANSWERED | {"place": A_PLACE | {"geo": {"lat": None, "lon": 5}}},
        ["place", "id", "day"],
    ),
    "unknown id": Case(
        WriteRule.UNKNOWN_COLUMN,
        json_of(*ID_AND_DAY, (99, "level", "int")),
        ["level"],
        json_of((7, "level", "int"), *ID_AND_DAY),
        FIRST | {"level": 7},
        ANSWERED | {"level": 7},
        ["level", "id", "day"],
    ),
    "repeated column": Case(
        WriteRule.REPEATED_COLUMN,
        ["id", "day", "note", "note"],
        ["note"],
        ["note", "id", "day"],
        FIRST | {"note": ""},
        ANSWERED | {"note": ""},
        ["note", "id", "day"],
    ),
    "struct and its field": Case(
        WriteRule.REPEATED_COLUMN,
        ["id", "day", "place", "place.city"],
        ["place.city"],
        ["id", "day", "place"],
        FIRST | {"place": A_PLACE | {"city": "Ulm"}},
        ANSWERED | {"place": A_PLACE | {"city": "Ulm"}},
        ["id", "day", "place"],
    ),
    "another type": Case(
        WriteRule.TYPE_DIFFERS,
        json_of(*ID_AND_DAY, (7, "level", "long")),
        ["level"],
        json_of(*ID_AND_DAY, (4, "place", STREET_ALONE)),
        FIRST | {"place": {"street": "B"}},
        ANSWERED | {"place": A_PLACE},
        ["id", "day", "place"],
    ),
    "part of a list": Case(
        WriteRule.NOT_A_STRUCT,
        ["id", "day", "tags.element"],
        ["tags.element"],
        ["tags", "id", "day"],
        FIRST | {"tags": ["a", None]},
        ANSWERED | {"tags": ["a", None]},
        ["tags", "id", "day"],
    ),
    "part of a map": Case(
        WriteRule.NOT_A_STRUCT,
        ["id", "day", "counts.value"],
        ["counts.value"],
        ["id", "day", "counts"],
        FIRST | {"counts": {"a": None, "b": 2**63 - 1}},
        ANSWERED | {"counts": [("a", None), ("b", 2**63 - 1)]},
        ["id", "day", "counts"],
    ),
    "nothing": Case(
        WriteRule.NOTHING_WRITTEN,
        [],
        [""],
        ["id"],
        {"id": None},
        {"id": None, "note": None},
        ["id"],
        LENIENT,
    ),
    "required skipped": Case(
        WriteRule.REQUIRED_SKIPPED,
        ["day", "note"],
        ["id"],
        ["day", "id"],
        FIRST,
        ANSWERED,
        ["day", "id"],
    ),
    "required skipped in a struct": Case(
        WriteRule.REQUIRED_SKIPPED,
        ["id", "day", "place.city"],
        ["place.street"],
        ["id", "day", "place.street"],
        FIRST | {"place": None},
        ANSWERED,
        ["id", "day", "place"],
    ),
    "partition source skipped": Case(
        WriteRule.PARTITION_SOURCE_SKIPPED,
        ["id"],
        ["day"],
        ["id", "day"],
        {"id": 1, "day": None},
        NOTHING | {"id": 1},
        ["id", "day"],
    ),
    "sort source skipped": Case(
        WriteRule.SORT_SOURCE_SKIPPED,
        ["id", "day"],
        ["level"],
        ["id", "day", "level"],
        FIRST | {"level": 3},
        ANSWERED | {"level": 3},
        ["id", "day", "level"],
        more={"sortOrder": [{"source": "level"}]},
    ),
    "rest skipped": Case(
        WriteRule.REST_COLUMN_SKIPPED,
        ["id", "day"],
        ["note"],
        ["id", "day", "note"],
        FIRST | {"else": 3},
        ANSWERED | {"note": '{"else":3}'},
        ["id", "day", "note"],
        more={"rest": "note"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_breaks_a_rule_is_refused_and_what_keeps_it_is_read_alike_by_all(
    gateway: httpx.Client, new_table: NewTable, name: str
) -> None:
    case = CASES[name]
    table = new_table(case.schema)
    refused = send(gateway, table, case.record, writeSchema=case.breaks, **case.more)
    assert (refused.status_code, refused.json()["code"]) == (422, "WRITE_SCHEMA_INVALID"), refused.text
    reported = [(error["field"], error["rule"]) for error in refused.json()["errors"]]
    assert reported == [(fault, case.rule.value) for fault in case.faults]
    assert table.refresh().current_snapshot() is None

    accepted = send(gateway, table, case.record, writeSchema=case.conforms, **case.more)
    assert accepted.status_code == 200, accepted.text
    assert_read_alike(gateway, table, [case.row])
    [file] = data_files(table)
    assert pq.read_schema(path_of(file)).names == case.columns
    assert list(by_duckdb(path_of(file))[0]) == case.columns


KEYS = ["id", "day"]
UPSERTS: dict[str, tuple[WriteRule, Row, str, Row]] = {
    "no equality fields": (
        WriteRule.NO_EQUALITY_FIELDS,
        {"writeSchema": ["day", "note", "id"]},
        "",
        {"writeSchema": ["day", "note", "id"], "equalityFields": KEYS},
    ),
    "part of a struct": (
        WriteRule.NOT_AN_EQUALITY_FIELD,
        {"writeSchema": ["day", "note", "id", "place"], "equalityFields": [*KEYS, "place.city"]},
        "place.city",
        {"writeSchema": ["day", "note", "id", "place"], "equalityFields": KEYS},
    ),
    "equality field skipped": (
        WriteRule.EQUALITY_FIELD_SKIPPED,
        {"writeSchema": ["day", "note", "id"], "equalityFields": [*KEYS, "level"]},
        "level",
        {"writeSchema": ["day", "level", "note", "id"], "equalityFields": [*KEYS, "level"]},
    ),
    "partition source no equality field": (
        WriteRule.PARTITION_SOURCE_NOT_EQUALITY_FIELD,
        {"writeSchema": ["day", "note", "id"], "equalityFields": ["id"]},
        "day",
        {"writeSchema": ["day", "note", "id"], "equalityFields": ["day", "id"]},
    ),
    "order by a struct": (
        WriteRule.NOT_AN_ORDER_COLUMN,
        {"writeSchema": ["day", "note", "id", "place"], "equalityFields": KEYS, "orderBy": "place"},
        "place",
        {"writeSchema": ["day", "note", "id", "place"], "equalityFields": KEYS},
    ),
    "order column skipped": (
        WriteRule.ORDER_COLUMN_SKIPPED,
        {"writeSchema": ["day", "note", "id"], "equalityFields": KEYS, "orderBy": "level"},
        "level",
        {"writeSchema": ["day", "level", "note", "id"], "equalityFields": KEYS, "orderBy": "level"},
    ),
    "rest in a number": (
        WriteRule.NOT_A_REST_COLUMN,
        {"writeSchema": ["day", "level", "note", "id"], "equalityFields": KEYS, "rest": "level"},
        "level",
        {"writeSchema": ["day", "note", "id"], "equalityFields": KEYS},
    ),
}


@pytest.mark.parametrize("name", UPSERTS)
def test_an_upsert_that_breaks_a_rule_is_refused_and_one_that_keeps_it_replaces_its_row(
    gateway: httpx.Client, new_table: NewTable, name: str
) -> None:
    rule, breaks, fault, conforms = UPSERTS[name]
    table = new_table()
    old: list[Row] = [FIRST | {"note": "old"}, FIRST | {"id": 2, "note": "old"}]
    assert send(gateway, table, *old, writeSchema=["id", "day", "note"]).status_code == 200
    new = FIRST | {"note": "new"}
    refused = send(gateway, table, new, mode="upsert", **breaks)
    assert (refused.status_code, refused.json()["code"]) == (422, "WRITE_SCHEMA_INVALID"), refused.text
    assert [(error["field"], error["rule"]) for error in refused.json()["errors"]] == [(fault, rule.value)]
    assert len(table.refresh().snapshots()) == 1

    accepted = send(gateway, table, new, mode="upsert", **conforms)
    assert accepted.status_code == 200, accepted.text
    found = by_spark(gateway, f"SELECT * FROM {named(table)} ORDER BY id")
    assert found == [ANSWERED | {"note": "new"}, ANSWERED | {"id": 2, "note": "old"}]
    # PyIceberg cannot read equality deletes, but all readers can read the files, and the compacted rows.
    files = table.refresh().inspect.files().select(["content", "file_path"]).to_pylist()
    paths = {
        content: [file["file_path"][7:] for file in files if file["content"] == content] for content in (0, 2)
    }
    columns = conforms["writeSchema"]
    assert [{**ANSWERED, "note": "new"}[column] for column in columns] in [
        list(row.values()) for path in paths[0] for row in by_duckdb(path) if list(row) == columns
    ]
    [deletes] = paths[2]
    compared = [*conforms["equalityFields"], conforms.get("orderBy")]
    assert by_duckdb(deletes) == [{column: ANSWERED[column] for column in columns if column in compared}]
    compact(gateway, table)
    assert_read_alike(gateway, table, found)


def test_every_rule_that_can_be_broken_over_http_has_a_case() -> None:
    broken = {case.rule for case in CASES.values()} | {rule for rule, _, _, _ in UPSERTS.values()}
    assert set(WriteRule) - broken == {WriteRule.DEFAULT_DIFFERS}


def test_a_record_has_no_field_outside_its_write_schema(gateway: httpx.Client, new_table: NewTable) -> None:
    table = new_table()
    part = FIRST | {"place": {"street": "B"}}
    schema = ["id", "day", "place.street"]
    for other in ({"note": "a"}, {"note": None}, {"place": A_PLACE}):
        refused = send(gateway, table, part, part | other, writeSchema=schema)
        assert (refused.status_code, refused.json()["code"]) == (422, "RECORDS_INVALID"), refused.text
        assert [error["pointer"] for error in refused.json()["errors"]] == ["/records/1"]
    assert table.refresh().current_snapshot() is None
    assert send(gateway, table, part, writeSchema=schema).status_code == 200
    assert_read_alike(gateway, table, [ANSWERED | {"place": A_PLACE}])


def test_files_are_in_the_tables_order_where_they_have_its_columns(
    gateway: httpx.Client, new_table: NewTable
) -> None:
    table = new_table()
    notes = ["b", None, "a", "c"]
    records: list[Row] = [{"id": number, "day": DAY, "note": note} for number, note in enumerate(notes)]
    without: list[Row] = [{"id": number, "day": DAY} for number in (9, 8)]
    writes = [
        {"table": named(table), "writeSchema": ["note", "id", "day"], "records": records},
        {"table": named(table), "writeSchema": ["id", "day"], "records": without},
    ]
    assert gateway.post("/ingest", json={"writes": writes}).status_code == 200
    rows = [NOTHING | {"note": None} | record | {"day": ANSWERED_DAY} for record in [*records, *without]]
    assert_read_alike(gateway, table, rows)
    orders = {
        file.sort_order_id: [row["id"] for row in by_duckdb(path_of(file))] for file in data_files(table)
    }
    assert orders == {table.sort_order().order_id: [3, 0, 2, 1], 0: [9, 8]}
