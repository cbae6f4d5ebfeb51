"""Tests ingests: data in each form, through the gateway's own HTTP server and its ingest service."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from service.errors.unavailable import CatalogDown
from sluice_client import (
    Bounds,
    Connection,
    DataNotSupported,
    NotFound,
    RecordsInvalid,
    RequestIdReused,
    SchemaInvalid,
    connect,
)
from sluice_client.ingest.bodies import BodyType, SpooledBody
from tests.client.gateways import Served

TABLE = "lake.logs.events"
RECORDS: list[dict[str, Any]] = [
    {"user_id": 1, "log_type": "http"},
    {"user_id": 2, "log_type": "dns", "is_new": True},
]
COLUMNS = ["user_id", "log_type", "is_new"]
ROWS = pa.table(
    {"user_id": pa.array([1, 2], pa.int64()), "log_type": ["http", "dns"], "is_new": pa.array([None, True])}
)
WRITTEN = [{"user_id": 1, "log_type": "http"}, {"user_id": 2, "log_type": "dns", "is_new": True}]


def test_records_are_written_and_committed(gateway: Served, connection: Connection) -> None:
    result = connection.ingest(TABLE, RECORDS, write_schema=COLUMNS)
    assert gateway.written() == WRITTEN
    assert result.state == "COMMITTED"
    assert result.added_records == 2
    assert result.snapshot_id is not None
    assert isinstance(result.request_id, UUID)
    [commit] = result.commits
    assert (commit.table, commit.branch, commit.error_code) == (TABLE, "main", None)
    assert connection.ingest_status(result.ingest_id).commits == result.commits


def test_values_of_python_become_values_of_the_table(gateway: Served, connection: Connection) -> None:
    record = {
        "event_time": datetime(2026, 1, 1, 12, tzinfo=UTC),
        "log_type": 'é\n"',
        "user_id": 2**53 + 1,
        "price": Decimal("12345.67"),
        "payload": b"\x00\xff",
        "day": date(2026, 1, 1),
        "share": 0.1,
        "tags": ["a", None],
        "place": {"city": "Bonn"},
        "is_new": False,
    }
    connection.ingest(TABLE, [record])
    assert gateway.written() == [record]


def _records() -> Iterator[dict[str, Any]]:
    yield from RECORDS


@pytest.mark.parametrize(
    "data",
    [
        RECORDS,
        tuple(RECORDS),
        _records(),
        ROWS,
        ROWS.to_batches()[0],
        pa.RecordBatchReader.from_batches(ROWS.schema, ROWS.to_batches()),
        ROWS.to_reader(),
    ],
    ids=["list", "tuple", "generator", "table", "batch", "reader", "table's reader"],
)
def test_data_in_memory_is_written(gateway: Served, connection: Connection, data: Any) -> None:
    connection.ingest(TABLE, data, write_schema=COLUMNS)
    assert gateway.written() == WRITTEN


def test_anything_with_an_arrow_stream_is_written(gateway: Served, connection: Connection) -> None:
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return ROWS.__arrow_c_stream__(requested_schema)

    connection.ingest(TABLE, Stream(), write_schema="infer")
    assert gateway.written() == WRITTEN


def _write_ndjson(path: Path) -> None:
    path.write_text('{"user_id": 1, "log_type": "http"}\n{"user_id": 2, "log_type": "dns", "is_new": true}\n')


def _write_file(path: Path) -> Path:
    """Writes the rows in the format of the file's name."""
    match path.suffixes:
        case [".csv"]:
            path.write_text("user_id,log_type,is_new\n1,http,\n2,dns,true\n")
        case [".parquet"]:
            pa.parquet.write_table(ROWS, path)
        case [".arrows"]:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, ROWS.schema) as writer:
                writer.write_table(ROWS)
        case [_, ".gz"]:
            _write_ndjson(path.with_suffix(""))
            path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
        case _:
            _write_ndjson(path)
    return path


@pytest.mark.parametrize("name", ["a.ndjson", "a.jsonl", "a.csv", "a.parquet", "a.arrows", "a.ndjson.gz"])
@pytest.mark.parametrize("how", ["path", "text", "open"])
def test_files_are_sent_as_they_are(
    gateway: Served, connection: Connection, tmp_path: Path, name: str, how: str
) -> None:
    path = _write_file(tmp_path / name)
    if how == "open":
        with path.open("rb") as file:
            connection.ingest(TABLE, file, write_schema=COLUMNS)
    else:
        connection.ingest(TABLE, path if how == "path" else str(path), write_schema=COLUMNS)
    assert gateway.written() == WRITTEN


class _Pipe(io.RawIOBase):
    """A file that can be read once."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._data.readinto(buffer)


def test_a_pipe_needs_its_format_and_is_sent(gateway: Served, connection: Connection) -> None:
    data = b'{"user_id": 1, "log_type": "http"}\n'
    with pytest.raises(DataNotSupported, match="format="):
        connection.ingest(TABLE, _Pipe(data))
    connection.ingest(TABLE, _Pipe(data), format="ndjson", write_schema=["user_id", "log_type"])
    connection.ingest(TABLE, _Pipe(gzip.compress(data)), format="ndjson", compression="gzip")
    assert gateway.written() == [WRITTEN[0], WRITTEN[0]]


def test_many_records_go_to_a_temporary_file_and_are_written_once(gateway: Served) -> None:
    records = [{"user_id": number, "log_type": "x" * 100} for number in range(5_000)]
    with connect(gateway.url, bounds=Bounds(spool_memory_bytes=10_000)) as connection:
        result = connection.ingest(TABLE, iter(records), write_schema=["user_id", "log_type"])
    assert result.added_records == 5_000
    assert gateway.written() == records


def test_the_same_request_id_is_written_once(gateway: Served, connection: Connection) -> None:
    request_id = uuid4()
    first = connection.ingest(TABLE, RECORDS, request_id=request_id)
    assert connection.ingest(TABLE, RECORDS, request_id=request_id).ingest_id == first.ingest_id
    with pytest.raises(RequestIdReused):
        connection.ingest(TABLE, RECORDS[:1], request_id=request_id)
    assert gateway.written() == WRITTEN


def test_an_accepted_ingest_can_be_awaited_later(connection: Connection) -> None:
    accepted = connection.ingest(TABLE, RECORDS, wait="ACCEPTED")
    assert accepted.ingest_id is not None
    assert connection.ingest_status(accepted.ingest_id, wait=True).state == "COMMITTED"


def test_records_that_do_not_fit_are_an_error_with_their_lines(
    gateway: Served, connection: Connection
) -> None:
    with pytest.raises(RecordsInvalid, match="line 2") as raised:
        connection.ingest(TABLE, [{"user_id": 1}, {"user_id": "two"}], write_schema=["user_id"])
    assert [fault.line for fault in raised.value.faults] == [2]
    assert raised.value.request_id is not None
    assert gateway.written() == []


def test_bad_records_may_go_to_the_dead_letters(connection: Connection) -> None:
    records = [{"user_id": 1}, {"user_id": "two"}]
    result = connection.ingest(TABLE, records, write_schema=["user_id"], on_error="DEAD_LETTER")
    assert result.rejected_count == 1
    assert result.rejected[0].line == 2


def test_a_write_schema_that_does_not_fit_is_an_error_with_every_field(connection: Connection) -> None:
    with pytest.raises(SchemaInvalid, match="nothing"):
        connection.ingest(TABLE, RECORDS, write_schema=["user_id", "nothing, at all"])


def test_a_missing_table_is_an_error_with_the_nearest_names(connection: Connection) -> None:
    with pytest.raises(NotFound, match=TABLE):
        connection.ingest("lake.logs.event", RECORDS)


def test_a_part_that_is_down_is_waited_for(gateway: Served) -> None:
    gateway.ingests.tables.is_down = True
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        gateway.ingests.tables.is_down = False

    with connect(gateway.url, sleep=sleep) as connection:
        connection.ingest(TABLE, iter(RECORDS))
    # As long as the gateway's Retry-After asks for.
    assert pauses == [5.0]
    assert gateway.written() == WRITTEN
    assert CatalogDown.code == "CATALOG_DOWN"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"user_id": 1}, "pass a list of dicts"),
        (b'{"user_id": 1}', "pass a list of dicts"),
        (7, "pass a list of dicts"),
        ([1], "record 1 is a int"),
        ([{"user_id": 1}, {"share": float("nan")}], "record 2 cannot be JSON.*Arrow"),
        ([{"tags": {"a"}}], "record 1: a set has no order"),
        ([{"user_id": object()}], "record 1: a value is a object"),
        ([{"price": Decimal("NaN")}], "record 1: NaN is not a decimal"),
    ],
    ids=["dict", "bytes", "number", "no dict", "NaN", "set", "object", "NaN decimal"],
)
def test_data_that_cannot_be_sent_is_an_error_and_nothing_is_written(
    gateway: Served, connection: Connection, data: Any, reason: str
) -> None:
    with pytest.raises(DataNotSupported, match=reason):
        connection.ingest(TABLE, data)
    assert gateway.written() == []


def test_a_source_that_fails_half_way_writes_nothing(gateway: Served, connection: Connection) -> None:
    def records() -> Iterator[dict[str, Any]]:
        for number in range(20_000):
            yield {"user_id": number, "log_type": "x" * 50}
        raise RuntimeError("the source is gone")

    with pytest.raises(RuntimeError, match="the source is gone"):
        connection.ingest(TABLE, records())
    assert gateway.written() == []
    # The connection that was cut off is not used again.
    connection.ingest(TABLE, RECORDS)
    assert gateway.written() == WRITTEN


def test_bytes_whose_source_failed_are_not_sent_again_as_if_they_were_all() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"a"
        raise OSError("the pipe is gone")

    body = SpooledBody(BodyType("text/csv"), pieces(), memory_bytes=10)
    first = body.open()
    assert next(first) == b"a"
    assert body.can_open()
    with pytest.raises(OSError, match="the pipe is gone"):
        next(first)
    assert not body.can_open()
    body.close()


def test_a_file_that_is_missing_or_text_is_an_error(connection: Connection, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        connection.ingest(TABLE, tmp_path / "nothing.csv")
    path = tmp_path / "a.csv"
    path.write_text("user_id\n1\n")
    with path.open() as file, pytest.raises(TypeError, match="binary"):
        connection.ingest(TABLE, file)
