"""Rejected records of every format are stored, corrected in their stored form, and sent again."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import DateType, LongType, NestedField, TimestamptzType

from service.model.calendar import FIRST_DAY, LAST_DAY, day_of
from tests.integration.asking import rows
from tests.integration.log_tables import lines, named
from tests.integration.readers import assert_read_alike

pytestmark = pytest.mark.integration

TOO_LARGE, CORRECTED = 2**64 - 1, 7
CONTENT_TYPES = {
    "NDJSON": "application/x-ndjson",
    "CSV": "text/csv",
    "ARROW_STREAM": "application/vnd.apache.arrow.stream",
    "PARQUET": "application/vnd.apache.parquet",
}
COLUMNS = ["note", "amount", "id"]
BAD = (2, 5)
NOTES = {1: "plain", 2: 'a,"b"\nc', 3: "🙂", 4: None, 5: "", 6: "\\"}
RECORDS: list[dict[str, Any]] = [
    {"id": id_, "note": note, "amount": TOO_LARGE if id_ in BAD else id_} for id_, note in NOTES.items()
]


@pytest.fixture
def table(lake: SqlCatalog, log_table: Table) -> Iterator[Table]:
    yield log_table
    dead_letters = f"{'.'.join(log_table.name())}__dead_letter"
    if lake.table_exists(dead_letters):
        lake.drop_table(dead_letters)


def as_arrow_table() -> pa.Table:
    amounts = pa.array([record["amount"] for record in RECORDS], pa.uint64())
    kinds = pa.table(
        {"id": [record["id"] for record in RECORDS], "note": [record["note"] for record in RECORDS]}
    )
    return kinds.append_column("amount", amounts)


def body(form: str) -> bytes:
    match form:
        case "NDJSON":
            return lines(RECORDS)
        case "CSV":
            sink = io.BytesIO()
            pacsv.write_csv(as_arrow_table(), sink)
            return sink.getvalue()
        case "ARROW_STREAM":
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, as_arrow_table().schema) as writer:
                writer.write_table(as_arrow_table())
            return sink.getvalue()
        case _:
            sink = io.BytesIO()
            pq.write_table(as_arrow_table(), sink)
            return sink.getvalue()


def send_body(gateway: httpx.Client, table: Table, form: str, content: bytes, **query: str) -> httpx.Response:
    asked = {"table": named(table), "writeSchema": ",".join(COLUMNS), "onError": "DEAD_LETTER"} | query
    return gateway.post(
        "/ingest", params=asked, content=content, headers={"Content-Type": CONTENT_TYPES[form]}
    )


def send_records(gateway: httpx.Client, table: Table, records: list[dict[str, Any]]) -> httpx.Response:
    asked = {"table": named(table), "writeSchema": COLUMNS, "onError": "DEAD_LETTER", "records": records}
    return gateway.post("/ingest", json=asked)


def dead_letters_of(gateway: httpx.Client, table: Table) -> list[tuple[str, str]]:
    """Returns the format and payload of each dead letter."""
    sql = f"SELECT format, payload FROM {named(table)}__dead_letter ORDER BY position, payload"
    return [(row[0], row[1]) for row in rows(gateway, sql)]


@pytest.mark.parametrize("form", ["JSON", *CONTENT_TYPES])
def test_dead_letters_of_every_form_are_corrected_and_sent_again(
    gateway: httpx.Client, table: Table, form: str
) -> None:
    response = (
        send_records(gateway, table, RECORDS)
        if form == "JSON"
        else send_body(gateway, table, form, body(form))
    )
    assert response.status_code == 200, response.text
    assert response.json()["rejected"]["count"] == len(BAD)
    stored = dead_letters_of(gateway, table)
    assert {format_ for format_, _ in stored} == {"CSV" if form == "CSV" else "NDJSON"}
    for format_, payload in stored:
        assert str(TOO_LARGE) in payload
        corrected = payload.replace(str(TOO_LARGE), str(CORRECTED))
        again = (
            send_records(gateway, table, [json.loads(corrected)])
            if form == "JSON"
            else send_body(gateway, table, format_, corrected.encode())
        )
        assert again.status_code == 200, again.text
        assert (again.json()["commits"][0]["addedRecords"], again.json()["rejected"]["count"]) == (1, 0)
    assert_read_alike(
        gateway,
        table,
        [
            {**record, "kind": None, "amount": CORRECTED if record["id"] in BAD else record["amount"]}
            for record in RECORDS
        ],
    )
    assert dead_letters_of(gateway, table) == stored


def test_a_dead_letter_that_is_not_corrected_becomes_one_again(gateway: httpx.Client, table: Table) -> None:
    assert send_body(gateway, table, "CSV", body("CSV")).status_code == 200
    first = dead_letters_of(gateway, table)
    for form, payload in first:
        again = send_body(gateway, table, form, payload.encode())
        assert again.status_code == 200, again.text
        assert (again.json()["rejected"]["count"], len(again.json()["commits"])) == (1, 1)
    assert sorted(dead_letters_of(gateway, table)) == sorted([*first, *first])


@pytest.fixture
def days_table(lake: SqlCatalog, new_name: str) -> Iterator[str]:
    fields = [
        NestedField(1, "id", LongType()),
        NestedField(2, "d", DateType()),
        NestedField(3, "z", TimestamptzType()),
    ]
    lake.create_table(new_name, Schema(*fields))
    yield new_name
    for identifier in (new_name, f"{new_name}__dead_letter"):
        lake.drop_table(identifier)


def test_dead_letters_with_days_and_moments_of_far_years_are_sent_again(
    gateway: httpx.Client, days_table: str
) -> None:
    far_day, far_moment = "+32768-01-01", "+55840-11-08T22:13:20+00:00"
    sent = pa.table(
        {
            "id": [1, 2, 3],
            "d": pa.array([LAST_DAY, day_of(far_day), FIRST_DAY], pa.int32()).view(pa.date32()),
            "z": pa.array([0, 1, 1_700_000_000_000 * 10**6], pa.int64()).view(pa.timestamp("us", "UTC")),
        }
    )
    sink = io.BytesIO()
    pq.write_table(sent, sink)
    asked = {"table": f"lake.{days_table}", "onError": "DEAD_LETTER"}

    def send(form: str, content: bytes) -> int:
        headers = {"Content-Type": CONTENT_TYPES[form]}
        response = gateway.post("/ingest", params=asked, content=content, headers=headers)
        assert response.status_code == 200, response.text
        count: int = response.json()["rejected"]["count"]
        return count

    def payloads() -> list[str]:
        return [payload for [payload] in rows(gateway, f"SELECT payload FROM lake.{days_table}__dead_letter")]

    assert send("PARQUET", sink.getvalue()) == 2
    stored = sorted(payloads(), key=lambda payload: str(json.loads(payload)["id"]))
    assert [json.loads(payload) for payload in stored] == [
        {"id": 2, "d": far_day, "z": "1970-01-01T00:00:00.000001+00:00"},
        {"id": 3, "d": "0001-01-01", "z": far_moment},
    ]
    content = "\n".join(stored)
    assert send("NDJSON", content.encode()) == 2
    assert sorted(payloads()) == sorted([*stored, *stored])
    corrected = content.replace(far_day, "2026-01-01").replace(far_moment, "2023-11-14T22:13:20+00:00")
    assert send("NDJSON", corrected.encode()) == 0
    assert rows(gateway, f"SELECT * FROM lake.{days_table} ORDER BY id") == [
        [1, "9999-12-31", "1970-01-01T00:00:00+00:00"],
        [2, "2026-01-01", "1970-01-01T00:00:00.000001+00:00"],
        [3, "0001-01-01", "2023-11-14T22:13:20+00:00"],
    ]
