"""Bodies of records sent over HTTP into tables, in every format, read back by Spark."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
)

from tests.integration.asking import rows
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration

PLACE = StructType(NestedField(21, "city", StringType(), required=True), NestedField(22, "lat", DoubleType()))
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "kind", StringType()),
    NestedField(3, "at", TimestamptzType()),
    NestedField(4, "day", DateType()),
    NestedField(5, "price", DecimalType(9, 2)),
    NestedField(6, "place", PLACE),
    NestedField(7, "tags", ListType(71, StringType(), element_required=False)),
    NestedField(8, "counts", MapType(81, StringType(), 82, LongType(), value_required=False)),
    NestedField(9, 'odd."name" 🙂', StringType()),
)
NDJSON, CSV = "application/x-ndjson", "text/csv"
ARROW, PARQUET = "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
RECORDS: list[dict[str, Any]] = [
    {
        "id": 1,
        "kind": "http",
        "at": datetime(2026, 1, 1, 12, tzinfo=UTC),
        "day": date(2026, 1, 1),
        "price": Decimal("12.50"),
        "place": {"city": "Ulm", "lat": 48.4},
        "tags": ["a", None],
        "counts": [("x", 1)],
        'odd."name" 🙂': 'a,"b"\nc',
    },
    {"id": 2, "kind": "dns", "place": None, "tags": [], "counts": []},
]
EXPECTED = [
    [1, "http", "2026-01-01T12:00:00+00:00", "2026-01-01", "12.50", "Ulm", ["a", None], 1, 'a,"b"\nc'],
    [2, "dns", None, None, None, None, [], None, None],
]


def as_json(record: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {
        name: str(value) if isinstance(value, (date, Decimal)) else value for name, value in record.items()
    }
    if isinstance(plain.get("counts"), list):
        plain["counts"] = dict(plain["counts"])
    return plain


def ndjson() -> bytes:
    return "\n".join(json.dumps(as_json(record)) for record in RECORDS).encode()


def csv() -> bytes:
    names = [field.name for field in SCHEMA.fields]
    return "\r\n".join(
        [",".join(map(quoted, names)), *(csv_line(record, names) for record in RECORDS)]
    ).encode()


def csv_line(record: dict[str, Any], names: list[str]) -> str:
    values = as_json(record)
    texts = [values.get(name) for name in names]
    return ",".join(
        "" if text is None else quoted(text if isinstance(text, str) else json.dumps(text)) for text in texts
    )


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def table() -> pa.Table:
    kinds = {
        "id": pa.int32(),
        "kind": pa.dictionary(pa.int8(), pa.string()),
        "at": pa.timestamp("s", "Europe/Berlin"),
        "day": pa.date32(),
        "price": pa.decimal128(7, 2),
        "place": pa.struct([("lat", pa.float32()), ("city", pa.large_string())]),
        "tags": pa.large_list(pa.string()),
        "counts": pa.map_(pa.string(), pa.int16()),
        'odd."name" 🙂': pa.string(),
    }
    columns = [pa.array([record.get(name) for record in RECORDS], kind) for name, kind in kinds.items()]
    return pa.Table.from_arrays(columns, names=list(kinds))


def arrow() -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table().schema) as writer:
        writer.write_table(table(), max_chunksize=1)
    return sink.getvalue()


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(table(), sink, row_group_size=1)
    return sink.getvalue()


BODIES: Mapping[str, Callable[[], bytes]] = {NDJSON: ndjson, CSV: csv, ARROW: arrow, PARQUET: parquet}
PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
}


@pytest.fixture
def events(lake: SqlCatalog) -> Iterator[Table]:
    lake.create_namespace_if_not_exists("bodies")
    name = f"bodies.events_{uuid4().hex[:8]}"
    yield lake.create_table(name, SCHEMA, properties={"format-version": "2"})
    lake.drop_table(name)
    if lake.table_exists(f"{name}__dead_letter"):
        lake.drop_table(f"{name}__dead_letter")


def named(table: Table) -> str:
    return ".".join(("lake", *table.name()))


def send(
    gateway: httpx.Client,
    table: Table | None,
    body: bytes,
    kind: str = NDJSON,
    packed: str = "",
    **query: str,
) -> httpx.Response:
    headers = {"Content-Type": kind} | ({"Content-Encoding": packed} if packed else {})
    given = query if table is None else {"table": named(table)} | query
    return gateway.post("/ingest", content=body, headers=headers, params=given, timeout=120)


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("kind", BODIES)
def test_records_of_every_form_are_the_same_rows(
    gateway: httpx.Client, events: Table, kind: str, packed: str
) -> None:
    response = send(gateway, events, PACKED[packed](BODIES[kind]()), kind, packed)
    assert response.status_code == 200, response.text
    columns = "id, kind, at, day, price, place.city, tags, counts['x'], `odd.\"name\" 🙂`"
    assert rows(gateway, f"SELECT {columns} FROM {named(events)} ORDER BY id") == EXPECTED


@pytest.mark.parametrize("kind", BODIES)
def test_one_stream_goes_to_several_write_schemas_of_one_snapshot(
    gateway: httpx.Client, events: Table, kind: str
) -> None:
    to = {
        "http": {"table": named(events), "writeSchema": "infer"},
        "*": {"table": named(events), "writeSchema": ["kind", "id", "tags", "counts", "place"]},
    }
    response = send(gateway, None, BODIES[kind](), kind, route=json.dumps({"field": "kind", "to": to}))
    assert response.status_code == 200, response.text
    [commit] = response.json()["commits"]
    targets = {tuple(target["writeSchemaColumnIds"]) for target in commit["writeTargets"]}
    assert targets == {tuple(range(1, 10)), (2, 1, 7, 8, 6)}
    assert rows(gateway, f"SELECT id, kind FROM {named(events)} ORDER BY id") == [[1, "http"], [2, "dns"]]


def damaged() -> Iterator[tuple[str, str, bytes]]:
    for kind, body in BODIES.items():
        for packed in ("gzip", "zstd"):
            yield kind, packed, PACKED[packed](body())[:-7]
            yield kind, packed, b"rubbish"
        yield kind, "", b"\xff\xfe rubbish"
        yield kind, "", b""
    yield CSV, "", b"id,kind\n"
    yield CSV, "", b"id,id\n1,2\n"
    yield CSV, "", b'id,"kind\n1,2\n'
    yield CSV, "", b"id,nothing\n1,2\n"
    yield CSV, "", ",".join(f"c{number}" for number in range(100_000)).encode() + b"\n1"
    yield NDJSON, "", json.dumps({f"c{number}": number for number in range(100_000)}).encode()
    yield NDJSON, "", b'{"id": 1, "place": {"lat": 1}}'
    yield NDJSON, "", b'{"id": 1, "day": "\xed\xa0\x80"}'
    for kind, whole in ((ARROW, arrow()), (PARQUET, parquet())):
        for length in (1, 8, 100, len(whole) // 2, len(whole) - 100, len(whole) - 8, len(whole) - 1):
            yield kind, "", whole[:length]
        yield kind, "", whole + b"more"


@pytest.mark.parametrize("kind", [NDJSON, CSV])
@pytest.mark.parametrize("on_error", ["REJECT_REQUEST", "DEAD_LETTER"])
def test_a_line_of_few_bytes_is_refused_if_it_unfolds_to_more_than_one_may_have(
    gateway: httpx.Client, events: Table, kind: str, on_error: str
) -> None:
    def sent(length: int) -> httpx.Response:
        head, tail = (b'{"id":1,"kind":"', b'"}') if kind == NDJSON else (b"id,kind\n1,", b"")
        header = head.rfind(b"\n") + 1
        body = head + b"x" * (length - len(head) + header - len(tail)) + tail
        return send(gateway, events, gzip.compress(body), kind, "gzip", onError=on_error)

    assert sent(8 * 1024**2).status_code == 200
    refused = sent(8 * 1024**2 + 1)
    assert (refused.status_code, refused.json()["code"]) == (422, "INGEST_INVALID")
    assert "8388608" in refused.json()["detail"]
    assert "SLUICE_INGEST_MAX_LINE_BYTES" in refused.json()["detail"]
    assert rows(gateway, f"SELECT length(kind) FROM {named(events)}") == [
        [8 * 1024**2 - (18 if kind == NDJSON else 2)]
    ]


@pytest.mark.parametrize("on_error", ["REJECT_REQUEST", "DEAD_LETTER"])
def test_what_is_damaged_or_wrong_is_reported_and_leaves_nothing(
    gateway: httpx.Client, events: Table, running: RunningGateway, on_error: str
) -> None:
    for kind, packed, body in damaged():
        response = send(gateway, events, body, kind, packed, onError=on_error)
        is_stored = on_error == "DEAD_LETTER" and response.status_code == 200
        assert is_stored or response.json()["code"] in ("INGEST_INVALID", "RECORDS_INVALID"), (
            kind,
            body[:80],
        )
    events.refresh()
    assert events.current_snapshot() is None
    spooled = [path for path in (running.data_dir / "spool").rglob("*") if path.is_file()]
    assert {path.name for path in spooled} <= {"lock", ".lock"}


def test_dead_letters_are_stored_read_and_sent_again(gateway: httpx.Client, events: Table) -> None:
    lines = ['{"id": 1}', '{"id": "2"}', "nonsense", '{"id": 3, "day": "2026-02-30"}', '{"id": 4}']
    response = send(gateway, events, "\n".join(lines).encode(), onError="DEAD_LETTER")
    assert response.status_code == 200, response.text
    answer = response.json()
    assert answer["rejected"]["count"] == 3
    assert [sample["line"] for sample in answer["rejected"]["samples"]] == [2, 3, 4]
    assert gateway.get(answer["links"]["self"]).json() == answer
    dead_letters = f"{named(events)}__dead_letter"
    assert [commit["table"] for commit in answer["commits"]] == [named(events), dead_letters]
    sql = f"SELECT payload, position, ingest_id, table_name FROM {dead_letters} ORDER BY position"
    found = rows(gateway, sql)
    assert [row[0] for row in found] == lines[1:4]
    assert {tuple(row[2:]) for row in found} == {(answer["ingestId"], named(events))}
    corrected = "\n".join(str(record[0]).replace('"2"', "2").replace("02-30", "02-28") for record in found)
    again = send(gateway, events, corrected.encode(), onError="DEAD_LETTER").json()
    assert (again["commits"][0]["addedRecords"], again["rejected"]["count"]) == (2, 1)
    assert rows(gateway, f"SELECT id FROM {named(events)} ORDER BY id") == [[1], [2], [3], [4]]


def test_a_request_that_is_sent_again_is_written_once(gateway: httpx.Client, events: Table) -> None:
    request_id = str(uuid4())
    first, second = (send(gateway, events, b'{"id": 1}', requestId=request_id) for _ in range(2))
    assert first.json()["ingestId"] == second.json()["ingestId"]
    other = send(gateway, events, b'{"id": 2}', requestId=request_id)
    assert (other.status_code, other.json()["code"]) == (409, "REQUEST_ID_REUSED")
    assert rows(gateway, f"SELECT id FROM {named(events)}") == [[1]]
