"""Rows without a partition are records that do not fit, in whatever format they are sent."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import (
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    StructType,
)

from tests.integration.asking import rows
from tests.integration.log_tables import VERSION_2, ids, lines, named, put
from tests.polling import until

pytestmark = pytest.mark.integration

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "name", StringType()),
    NestedField(3, "share", DoubleType()),
    NestedField(4, "price", DecimalType(5, 2)),
    NestedField(5, "st", StructType(NestedField(6, "x", IntegerType(), required=True))),
)
LONG = "é" * 90
GOOD: dict[str, Any] = {"name": "a", "share": 0.5, "price": "1.00", "st": {"x": 1}}
RECORDS = [
    {"id": 1} | GOOD,
    {"id": 2} | GOOD | {"name": LONG},
    {"id": 3} | GOOD | {"price": "-999.99"},
    {"id": 4} | GOOD | {"st": None},
    {"id": 5} | GOOD | {"price": "-999.00", "share": None, "name": None},
]
REASONS = {2: "name: ", 3: "price: ", 4: "st.x: "}


@pytest.fixture
def table(lake: SqlCatalog) -> Iterator[Table]:
    """A table whose partition fields have no value for some source values."""
    lake.create_namespace_if_not_exists("logs")
    name = f"logs.t_{uuid4().hex}"
    made = lake.create_table(name, SCHEMA, properties=VERSION_2)
    with made.update_spec() as spec:
        spec.add_field("name", IdentityTransform(), "name_part")
        spec.add_field("share", IdentityTransform(), "share_part")
        spec.add_field("price", TruncateTransform(100), "price_part")
        spec.add_field("st.x", BucketTransform(2), "x_part")
    yield made
    for identifier in (name, f"{name}__dead_letter"):
        if lake.table_exists(identifier):
            lake.drop_table(identifier)


def send(gateway: httpx.Client, table: Table, form: str, inbox: Path, on_error: str) -> httpx.Response:
    asked = {"table": named(table), "onError": on_error}
    match form:
        case "JSON":
            return gateway.post("/ingest", json=asked | {"records": RECORDS})
        case "NDJSON":
            content = {"Content-Type": "application/x-ndjson"}
            return gateway.post("/ingest", params=asked, content=lines(RECORDS), headers=content)
        case _:
            put(inbox, "some.json", lines(RECORDS))
            source = {"uri": f"{inbox.as_uri()}/some.json", "format": "ndjson"}
            return gateway.post("/ingest", json=asked | {"source": source})


@pytest.mark.parametrize("form", ["JSON", "NDJSON", "source"])
def test_they_become_dead_letters_and_the_others_are_committed(
    gateway: httpx.Client, table: Table, inbox: Path, form: str
) -> None:
    answer = send(gateway, table, form, inbox, "DEAD_LETTER")
    assert answer.status_code == 200, answer.text
    assert answer.json()["rejected"]["count"] == len(REASONS)
    assert ids(table) == [1, 5]
    dead_letters = rows(gateway, f"SELECT payload, reason FROM {named(table)}__dead_letter ORDER BY payload")
    for (payload, reason), (number, start) in zip(dead_letters, REASONS.items(), strict=True):
        assert f'"id": {number}' in payload
        assert start in reason


@pytest.mark.parametrize("form", ["JSON", "NDJSON", "source"])
def test_without_dead_letters_each_is_reported_with_its_place_and_reason(
    gateway: httpx.Client, table: Table, inbox: Path, form: str
) -> None:
    answer = send(gateway, table, form, inbox, "REJECT_REQUEST")
    assert (answer.status_code, answer.json()["code"]) == (422, "RECORDS_INVALID")
    reported = answer.json()["errors"]
    assert len(reported) == len(REASONS)
    for error, (number, start) in zip(reported, REASONS.items(), strict=True):
        assert start in error["detail"]
        if form == "JSON":
            assert error["pointer"] == f"/records/{number - 1}"
        else:
            assert error["line"] == number
    assert ids(table) == []


def test_of_parquet_what_is_not_finite_is_reported_by_its_row(gateway: httpx.Client, table: Table) -> None:
    shares = [0.5, float("nan"), None, float("-inf")]
    sink = io.BytesIO()
    columns = {"id": [1, 2, 3, 4], "share": shares, "st": [{"x": 1}] * 4}
    pq.write_table(pa.table(columns), sink)
    kind = {"Content-Type": "application/vnd.apache.parquet"}
    asked = {"table": named(table), "onError": "DEAD_LETTER"}
    answer = gateway.post("/ingest", params=asked, content=sink.getvalue(), headers=kind)
    assert answer.status_code == 200, answer.text
    assert ids(table) == [1, 3]
    found = rows(gateway, f"SELECT position, reason FROM {named(table)}__dead_letter ORDER BY position")
    reason = "share: NaN and infinity cannot be partition values"
    assert found == [["row 2", reason], ["row 4", reason]]


def test_a_stream_goes_on_and_writes_their_dead_letters(
    gateway: httpx.Client, table: Table, inbox: Path
) -> None:
    put(inbox, "a.json", lines(RECORDS))
    source = {"directory": inbox.as_uri()}
    asked = {"name": "s", "table": named(table), "source": source, "interval": "100ms"}
    created = gateway.post("/streams", json=asked | {"onError": "DEAD_LETTER"})
    assert created.status_code == 201, created.text
    link = created.json()["links"]["self"]
    until(lambda: gateway.get(link).json()["progress"]["records"] == 2, 60)
    put(inbox, "b.json", lines([{"id": 6} | GOOD]))
    until(lambda: gateway.get(link).json()["progress"]["records"] == 3, 60)
    reported = gateway.get(link).json()
    assert (reported["state"], reported["error"], reported["progress"]["rejected"]) == (
        "RUNNING",
        None,
        len(REASONS),
    )
    assert ids(table) == [1, 5, 6]
    assert rows(gateway, f"SELECT count(*) FROM {named(table)}__dead_letter") == [[len(REASONS)]]
    gateway.delete(link)
