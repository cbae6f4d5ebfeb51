"""Results of several chunks, which are read as one stream, block by block."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest

from service.adapters.results.result_store import FolderResultStore
from service.adapters.results.store_bounds import ResultBounds
from sluice_client import (
    Bounds,
    Connection,
    ResultExpired,
    RetryPolicy,
    UnexpectedAnswer,
    connect,
    connect_async,
)
from sluice_client.errors import SluiceError
from sluice_client.results.arrow_messages import ArrowMessages, NotPlain
from sluice_client.results.chunks import check
from tests.client.gateways import Served
from tests.client.hostile_server import answer, hostile, query_answer, succeeded
from tests.client.transports import Loses, LossyTransport
from tests.fakes.clock import FakeClock

ARROW = "application/vnd.apache.arrow.stream"
SQL = "SELECT range AS n, repeat('row ' || range, 20) AS text, [range, NULL] AS list FROM range(101)"
NEVER: Loses = lambda _request, _number: False  # noqa: E731


def stream(*batches: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def batch(*numbers: int) -> pa.RecordBatch:
    return pa.record_batch({"n": pa.array(numbers, pa.int32())})


def reads(transport: LossyTransport) -> list[httpx.Request]:
    return [request for request in transport.requests if request.method == "GET"]


def starts(transport: LossyTransport) -> list[int]:
    ranges = (request.headers["Range"] for request in reads(transport))
    return [int(asked.removeprefix("bytes=").partition("-")[0]) for asked in ranges]


def reading(gateway: Served, loses: Loses = NEVER, **bounds: int) -> tuple[LossyTransport, Connection]:
    transport = LossyTransport(loses)
    options: dict[str, Any] = {"bounds": Bounds(**bounds), "retries": RetryPolicy(attempts=3)}
    return transport, connect(gateway.url, transport=transport, sleep=lambda _: None, **options)


@pytest.mark.parametrize("block_bytes", [1, 7, 1000, 4096, 1 << 20])
def test_blocks_of_any_size_are_the_rows(gateway: Served, block_bytes: int) -> None:
    expected = gateway.queries.database.sql(SQL).to_arrow_table()
    gateway.queries.chunk_rows = 10
    transport, connection = reading(gateway, block_bytes=block_bytes)
    with connection:
        result = connection.query(SQL)
        table = result.arrow()
        assert table == expected
        assert [chunk.num_rows for chunk in table.to_batches()] == [10] * 10 + [1]
        assert result.rows() == [tuple(row.values()) for row in expected.to_pylist()]
        assert result.reader().read_all() == expected
        assert result.pandas().n.tolist() == result.polars()["n"].to_list() == list(range(101))
    assert {request.url.path for request in reads(transport)} == {f"/query/{result.query_id}/result"}
    count = starts(transport).index(0, 1)
    assert starts(transport) == starts(transport)[:count] * 5
    if block_bytes == 1 << 20:
        assert count == 1


@pytest.mark.anyio
@pytest.mark.parametrize("block_bytes", [7, 4096])
async def test_the_async_twin_reads_the_same_blocks(gateway: Served, block_bytes: int) -> None:
    expected = gateway.queries.database.sql(SQL).to_arrow_table()
    async with connect_async(gateway.url, bounds=Bounds(block_bytes=block_bytes)) as connection:
        result = await connection.query(SQL)
        assert await result.arrow() == expected
        assert len(await result.rows()) == 101


def test_a_lost_block_is_read_again_and_no_other(gateway: Served) -> None:
    transport, connection = reading(
        gateway, lambda request, number: request.method == "GET" and number % 2 == 1, block_bytes=2_000
    )
    with connection:
        assert connection.query(SQL).arrow().column("n").to_pylist() == list(range(101))
    found = starts(transport)
    assert found[::2] == found[1::2] == sorted(set(found))
    tags = [request.headers.get("If-Range") for request in reads(transport)]
    assert tags[:2] == [None, None]
    assert len(set(tags[2:])) == 1


def test_batches_read_no_further_than_they_are_asked(gateway: Served) -> None:
    transport, connection = reading(gateway, block_bytes=1_000)
    with connection:
        batches = connection.query(SQL).batches()
        assert next(batches).num_rows == 2
        count = len(reads(transport))
        assert count <= 3
        next(batches)
        assert len(reads(transport)) <= count + 3
        gateway.queries.is_expired = True
        with pytest.raises(ResultExpired):
            list(batches)
    asked = [request.headers["Range"].removeprefix("bytes=").split("-") for request in reads(transport)]
    assert max(int(last) - int(first) + 1 for first, last in asked) < 2_000


def test_one_chunk_is_read_as_a_chunk(gateway: Served) -> None:
    transport, connection = reading(gateway)
    with connection:
        result = connection.query("SELECT 1 AS n")
        assert result.rows() == [(1,)]
    assert [request.url.path for request in reads(transport)] == [f"/query/{result.query_id}/chunks/0"]


@pytest.mark.parametrize("sql", [SQL, SQL.replace("range(101)", "range(100000)")], ids=["small", "large"])
def test_without_parts_a_large_result_is_read_in_chunks(gateway: Served, sql: str) -> None:
    gateway.queries.has_files = False
    gateway.queries.chunk_rows = 50_000
    transport, connection = reading(gateway, block_bytes=1_000)
    with connection:
        gateway.queries.chunk_rows = 50 if sql == SQL else 50_000
        found = connection.query(sql).arrow()
    assert found == gateway.queries.database.sql(sql).to_arrow_table()
    paths = [request.url.path.rpartition("/")[2] for request in reads(transport)]
    assert paths == (["result"] if sql == SQL else ["result", "0", "1"])


def test_dictionaries_are_read_in_chunks(gateway: Served) -> None:
    rows = pa.table({"n": pa.array(["a", "b", None, "a"]).dictionary_encode()})
    gateway.queries.answers["SELECT enum"] = rows
    transport, connection = reading(gateway)
    with connection:
        assert connection.query("SELECT enum").rows() == [("a",), ("b",), (None,), ("a",)]
    assert [request.url.path.rpartition("/")[2] for request in reads(transport)] == ["result", "0", "1"]


def test_a_message_larger_than_allowed_is_an_error(gateway: Served) -> None:
    _, connection = reading(gateway, block_bytes=100, max_chunk_bytes=1_000)
    gateway.queries.chunk_rows = 90
    with connection, pytest.raises(SluiceError, match="see Bounds"):
        connection.query(SQL).rows()


# ---- parts that no gateway sends --------------------------------------------------------------------

WHOLE = stream(batch(1, 2), batch(3))
HALF = len(WHOLE) // 2 // 8 * 8


def part(start: int, stop: int, total: int = len(WHOLE), data: bytes = WHOLE, **headers: str) -> bytes:
    place = f"bytes {start}-{stop - 1}/{total}"
    return answer(data[start:stop], 206, ARROW, **({"Content_Range": place, "ETag": '"a"'} | headers))


MANIFEST = query_answer()["manifest"] | {"totalRowCount": 3, "chunkCount": 2}
FIRST = part(0, HALF)


@pytest.mark.parametrize(
    "answers",
    [
        [FIRST, part(HALF + 8, len(WHOLE))],
        [FIRST, part(0, len(WHOLE))],
        [FIRST, part(HALF, len(WHOLE), len(WHOLE) + 8)],
        [FIRST, answer(WHOLE, 200, ARROW)],
        [FIRST, answer(WHOLE[HALF:], 206, ARROW)],
        [FIRST, part(HALF, len(WHOLE), Content_Range=f"bytes {HALF}-{len(WHOLE)}/{len(WHOLE) + 1}")],
        [
            FIRST,
            answer(b"[]", 206, "application/json", Content_Range=f"bytes {HALF}-{HALF + 1}/{len(WHOLE)}"),
        ],
        [FIRST, answer(b"", 206, ARROW, Content_Range=f"bytes {HALF}-{HALF - 1}/{len(WHOLE)}")],
        [part(0, HALF, HALF)],
        [part(0, len(WHOLE), data=WHOLE[:-16] + b"\0" * 16)],
        [answer(WHOLE + WHOLE, 200, ARROW)],
        [answer(WHOLE[:-8], 200, ARROW)],
        [answer(stream(batch(1), batch(2)), 200, ARROW)],
        [answer(stream(batch(1, 2), batch(3, 4)), 200, ARROW)],
    ],
    ids=[
        *("a gap", "from the start", "another length", "all of it", "no place", "another place", "JSON"),
        *("nothing", "cut", "zeros", "twice", "no end", "a row missing", "a row more"),
    ],
)
def test_parts_that_do_not_fit_are_an_error_and_no_row_is_lost_silently(answers: list[bytes]) -> None:
    with (
        hostile(succeeded(manifest=MANIFEST), *answers) as server,
        connect(server.url, retries=RetryPolicy(attempts=1)) as connection,
        pytest.raises(UnexpectedAnswer),
    ):
        connection.query("SELECT 1").arrow()


def test_parts_that_fit_are_the_rows() -> None:
    answers = [FIRST, part(HALF, len(WHOLE))]
    with (
        hostile(succeeded(manifest=MANIFEST), *answers) as server,
        connect(server.url, retries=RetryPolicy(attempts=1)) as connection,
    ):
        assert connection.query("SELECT 1").rows() == [(1,), (2,), (3,)]
        assert f"range: bytes={HALF}-".encode() in server.requests[2].lower()


def test_damaged_bytes_are_an_error_of_the_client() -> None:
    random = Random(0)
    text = pa.record_batch({"t": pa.array(["a", None, "bc"]), "l": pa.array([[1], None, [2, 3]])})
    plain = stream(text, text.slice(1))
    errors = 0
    for _ in range(1_000):
        data = bytearray(plain)
        for _ in range(random.randrange(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        messages, cut = ArrowMessages(1 << 20), random.randrange(len(data))
        try:
            for block in (bytes(data[:cut]), bytes(data[cut:])):
                for found in messages.add(block):
                    check(found)
            messages.end()
        except (UnexpectedAnswer, NotPlain, pa.ArrowException):
            errors += 1
    assert errors > 100


def test_what_a_gateway_keeps_is_such_a_stream(tmp_path: Path) -> None:
    store = FolderResultStore(tmp_path / "it", FakeClock(), ResultBounds(chunk_rows=3))
    rows, query_id = pa.table({"n": range(10), "t": [None, "a"] * 5}), uuid4()
    store.put(query_id, rows, (), is_truncated=False)
    kept = store.open(query_id)
    messages = ArrowMessages(1 << 20)
    batches: list[pa.RecordBatch] = []
    for start in range(0, kept.byte_count, 100):
        block = b"".join(kept.blocks(start, min(start + 100, kept.byte_count)))
        batches += messages.add(block)
    messages.end()
    assert [batch.num_rows for batch in batches] == [3, 3, 3, 1]
    assert pa.Table.from_batches(batches) == rows
    store.close()
