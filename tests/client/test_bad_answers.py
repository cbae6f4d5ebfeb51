"""Tests answers that no gateway gives: each is an error by its kind, soon, and within its bounds."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from sluice_client import (
    AnswerTooLarge,
    Bounds,
    Connection,
    ConnectionFailed,
    RetryPolicy,
    SluiceError,
    Timeouts,
    UnexpectedAnswer,
    connect,
    connect_async,
)
from tests.client.hostile_server import Answer, answer, hostile, query_answer, succeeded

ARROW = "application/vnd.apache.arrow.stream"
ONCE = RetryPolicy(attempts=1)


def stream(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    data: bytes = sink.getvalue().to_pybytes()
    return data


ROW = stream(pa.table({"n": pa.array([7], pa.int32())}))


def impatient(url: str, **options: Any) -> Connection:
    return connect(url, retries=ONCE, timeouts=Timeouts(answer_s=5, cancel_s=1), **options)


def test_the_hostile_server_can_be_kind() -> None:
    with hostile(succeeded(), answer(ROW, content_type=ARROW)) as server, impatient(server.url) as connection:
        assert connection.query("SELECT 7").rows() == [(7,)]


def endless() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    while True:
        yield b"10000\r\n" + b"[" * 0x10000 + b"\r\n"


def endless_head() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    while True:
        yield b"X-More: " + b"x" * 10_000 + b"\r\n"


def announced() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n"


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (b"", ConnectionFailed),
        (b"HTTP/1.1 200 OK\r\nContent-Len", ConnectionFailed),
        (b"SSH-2.0-OpenSSH_9.2\r\n", ConnectionFailed),
        (succeeded()[:-20], ConnectionFailed),
        (answer(b"<html>", content_type="text/html"), UnexpectedAnswer),
        (answer(b"<html>", 502, content_type="text/html"), UnexpectedAnswer),
        (answer(b"{", content_type="application/json"), UnexpectedAnswer),
        (answer(b"[" * 100_000), UnexpectedAnswer),
        (answer(b"[]"), UnexpectedAnswer),
        (answer(b"\xff"), UnexpectedAnswer),
        (answer(b"9" * 10_000), UnexpectedAnswer),
        (answer(b"{}"), UnexpectedAnswer),
        (answer(b"{}", 422, "application/problem+json"), UnexpectedAnswer),
        (answer(b'{"code": 1, "detail": []}', 500, "application/problem+json"), UnexpectedAnswer),
        (answer(b"", 302, Location="http://127.0.0.1:1/elsewhere"), UnexpectedAnswer),
        (answer(b"", 204), UnexpectedAnswer),
        (answer(gzip.compress(b"[" * 1_000_000), Content_Encoding="gzip"), UnexpectedAnswer),
        (succeeded(queryId="../../etc/passwd"), UnexpectedAnswer),
        (succeeded(queryId=7), UnexpectedAnswer),
        (succeeded(status={"state": "DANCING", "queuedMs": 0, "elapsedMs": 0}), UnexpectedAnswer),
        (succeeded(manifest=[]), UnexpectedAnswer),
        (succeeded(manifest=query_answer()["manifest"] | {"totalRowCount": -1}), UnexpectedAnswer),
        (succeeded(manifest=query_answer()["manifest"] | {"totalRowCount": True}), UnexpectedAnswer),
        (succeeded(manifest=query_answer()["manifest"] | {"chunkCount": 2**60}), UnexpectedAnswer),
    ],
    ids=[
        *("closed", "half a head", "not HTTP", "half a body", "a page", "a proxy's page", "half of JSON"),
        *("deep JSON", "an array", "not UTF-8", "a long number", "no fields", "an empty problem"),
        *("a problem of other types", "a redirect", "no content", "a bomb", "an id that is a path"),
        *("an id that is a number", "an unknown state", "a manifest that is a list", "a negative count"),
        *(
            "a count that is true",
            "chunks without end",
        ),
    ],
)
def test_a_bad_answer_to_a_query_is_an_error(bad: Answer, kind: type[SluiceError]) -> None:
    with hostile(bad) as server, impatient(server.url) as connection, pytest.raises(kind) as raised:
        connection.query("SELECT 1")
    assert not isinstance(raised.value, AnswerTooLarge)


@pytest.mark.parametrize("bad", [endless, announced])
def test_an_answer_without_an_end_is_not_read_further_than_its_bound(bad: Any) -> None:
    bounds = Bounds(max_answer_bytes=1_000_000)
    with (
        hostile(last=bad) as server,
        impatient(server.url, bounds=bounds) as connection,
        pytest.raises(AnswerTooLarge),
    ):
        connection.query("SELECT 1")


def test_headers_without_an_end_are_not_read_for_ever() -> None:
    with (
        hostile(last=endless_head) as server,
        impatient(server.url) as connection,
        pytest.raises(ConnectionFailed),
    ):
        connection.query("SELECT 1")


def slow() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
    while True:
        time.sleep(0.01)
        yield b" "


def test_an_answer_that_drips_is_given_up() -> None:
    timeouts = Timeouts(request_s=0.1, cancel_s=1)
    with (
        hostile(last=slow) as server,
        connect(server.url, retries=ONCE, timeouts=timeouts) as connection,
        pytest.raises(ConnectionFailed, match="too slowly"),
    ):
        connection.query("SELECT 1")


BAD_OFFSETS = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\xff\xff\0\0\2\0\0\0"), pa.py_buffer(b"ab")]
)


@pytest.mark.parametrize(
    "bad",
    [
        answer(ROW[:-30], content_type=ARROW),
        answer(ROW[:10], content_type=ARROW),
        answer(b"", content_type=ARROW),
        answer(b"\xff\xff\xff\xff" * 100, content_type=ARROW),
        answer(b"ARROW1\0\0" * 100, content_type=ARROW),
        answer(ROW, content_type="application/json"),
        answer(ROW, content_type="text/plain"),
        answer(stream(pa.table({"n": pa.array([], pa.int32())})), content_type=ARROW),
        answer(stream(pa.table({"n": pa.array([7, 8], pa.int32())})), content_type=ARROW),
        answer(stream(pa.table({"n": [1], "m": [2]})), content_type=ARROW),
    ],
    ids=[
        *("cut", "cut early", "empty", "noise", "a file", "JSON", "text", "a row missing", "a row more"),
        "a column more",
    ],
)
def test_a_chunk_that_is_damaged_is_an_error_and_no_row_is_lost_silently(bad: Answer) -> None:
    with (
        hostile(succeeded(), bad) as server,
        impatient(server.url) as connection,
        pytest.raises(UnexpectedAnswer),
    ):
        connection.query("SELECT 1").arrow()


def test_offsets_that_lead_outside_of_their_buffer_are_an_error() -> None:
    # Only a full look finds them: the first and the last offset are right.
    two = query_answer()["manifest"] | {"totalRowCount": 2}
    bad = answer(stream(pa.table({"n": BAD_OFFSETS})), content_type=ARROW)
    with (
        hostile(succeeded(manifest=two), bad) as server,
        impatient(server.url) as connection,
        pytest.raises(UnexpectedAnswer, match="valid Arrow stream"),
    ):
        connection.query("SELECT 1").arrow()


def test_chunks_with_different_columns_are_an_error() -> None:
    two = query_answer()["manifest"] | {"totalRowCount": 2, "chunkCount": 2}
    other = stream(pa.table({"n": pa.array([7], pa.int64())}))
    # It does not send parts, so the chunks are read.
    whole = answer(bytes(100_000), content_type=ARROW)
    answers = [whole, answer(ROW, content_type=ARROW), answer(other, content_type=ARROW)]
    with (
        hostile(succeeded(manifest=two), *answers) as server,
        impatient(server.url, bounds=Bounds(block_bytes=8)) as connection,
        pytest.raises(UnexpectedAnswer, match="different columns"),
    ):
        connection.query("SELECT 1").rows()


@pytest.mark.parametrize(
    "bad",
    [answer(b"{}"), answer(json.dumps({"ingestId": 1, "state": "COMMITTED", "rejected": {}}).encode())],
    ids=["empty", "other types"],
)
def test_a_bad_answer_to_an_ingest_is_an_error(bad: Answer) -> None:
    with hostile(bad) as server, impatient(server.url) as connection, pytest.raises(UnexpectedAnswer):
        connection.ingest("lake.logs.events", [{"a": 1}])


@pytest.mark.anyio
async def test_the_async_twin_has_the_same_bounds() -> None:
    bounds = Bounds(max_answer_bytes=1_000_000)
    with hostile(last=endless) as server:
        async with connect_async(server.url, bounds=bounds, retries=ONCE) as connection:
            with pytest.raises(AnswerTooLarge):
                await connection.query("SELECT 1")


def test_nothing_listens_there() -> None:
    with hostile(b"") as server:
        url = server.url
    with impatient(url) as connection, pytest.raises(ConnectionFailed, match="no connection") as raised:
        connection.query("SELECT 1")
    assert not raised.value.was_sent
