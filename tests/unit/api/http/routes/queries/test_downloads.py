"""Whole results as files, in each format and coding."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Callable
from random import Random
from typing import Any
from uuid import UUID

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from api.bootstrap.settings import Settings
from api.http.rendering.content_codings import ContentCoding, coder_of
from api.http.rendering.download_formats import DownloadFormat, FormatUnfit, writer_of
from tests.fakes.formatted_files import FakeFormattedFiles
from tests.fakes.gateway import FakeGateway
from tests.unit.api.conftest import Running

pytestmark = pytest.mark.anyio

ROWS = pa.table({"k": [1, 2, None, 4, 5], "name": ["a", None, "", 'say "x"', "é,\n"]})
EMPTY = ROWS.slice(0, 0)
WIDE = pa.table({"n": range(1000)})
UNFIT = pa.table({"fits": [1], "for": pa.array([None], pa.month_day_nano_interval())})


def read(download_format: DownloadFormat, content: bytes) -> list[list[Any]]:
    """Returns the rows of a file, with names first."""
    match download_format:
        case DownloadFormat.JSON_LINES:
            objects = [json.loads(line) for line in content.splitlines()]
            return [list(ROWS.column_names), *(list(row.values()) for row in objects)]
        case DownloadFormat.CSV:
            found = list(csv.reader(io.StringIO(content.decode(), newline="")))
            return [found[0], *([int(k) if k else None, name] for k, name in found[1:])]
        case DownloadFormat.ARROW_STREAM:
            table = pa.ipc.open_stream(content).read_all()
        case DownloadFormat.PARQUET:
            table = pq.read_table(io.BytesIO(content))
    return [table.column_names, *map(list, zip(*table.to_pydict().values(), strict=True))]


def expected(download_format: DownloadFormat, rows: pa.Table) -> list[list[Any]]:
    values = [list(row.values()) for row in rows.to_pylist()]
    if download_format is DownloadFormat.CSV:
        # Python's reader does not tell an empty field from an empty text.
        values = [[k, name or ""] for k, name in values]
    return [rows.column_names, *values]


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.001)


async def query_path(client: httpx.AsyncClient, **fields: Any) -> str:
    sent = (await client.post("/query", json={"sql": "select 1", **fields})).json()
    return f"/query/{sent['queryId']}/result"


@pytest.mark.parametrize("chunk_rows", [1, 2, 5])
@pytest.mark.parametrize("coding", ["identity", "gzip", "zstd"])
@pytest.mark.parametrize("download_format", DownloadFormat)
async def test_a_download_has_all_rows_in_their_order(
    client: httpx.AsyncClient,
    gateway: FakeGateway,
    download_format: DownloadFormat,
    coding: str,
    chunk_rows: int,
) -> None:
    gateway.queries.rows, gateway.queries.chunk_rows = ROWS, chunk_rows
    path = await query_path(client)
    found = await client.get(path, params={"format": download_format}, headers={"Accept-Encoding": coding})
    assert found.status_code == 200, found.text
    assert read(download_format, found.content) == expected(download_format, ROWS)
    is_coded = coding != "identity" and download_format is not DownloadFormat.PARQUET
    assert found.headers.get("Content-Encoding") == (coding if is_coded else None)
    assert (found.headers["X-Row-Count"], found.headers["X-Truncated"]) == ("5", "false")
    assert found.headers["Vary"] == "Accept, Accept-Encoding"


@pytest.mark.parametrize("download_format", DownloadFormat)
def test_a_file_without_rows_has_its_columns(download_format: DownloadFormat) -> None:
    writer = writer_of(download_format)
    content = writer.add(EMPTY) + writer.end()
    assert read(download_format, content) == [ROWS.column_names]


@pytest.mark.parametrize("coding", ContentCoding)
def test_what_a_coder_codes_is_sent_in_parts(coding: ContentCoding) -> None:
    coder, part = coder_of(coding), Random(1).randbytes(1 << 20)
    parts = [coder.add(part) for _ in range(8)]
    coded = b"".join(parts) + coder.end()
    assert sum(map(bool, parts)) > 4
    decoded = httpx.Response(200, headers={"Content-Encoding": coding}, content=coded).content
    assert decoded == part * 8


async def test_the_format_is_that_of_accept_then_of_the_address_then_of_the_query(
    client: httpx.AsyncClient,
) -> None:
    path = await query_path(client, format="CSV")
    asked: list[tuple[dict[str, str], str, str]] = [
        ({}, "*/*", "text/csv"),
        ({"format": "PARQUET"}, "*/*", "application/vnd.apache.parquet"),
        ({"format": "PARQUET"}, "text/html, */*;q=0.8", "application/vnd.apache.parquet"),
        ({"format": "PARQUET"}, "application/x-ndjson", "application/x-ndjson"),
    ]
    for parameters, accept, media_type in asked:
        found = await client.get(path, params=parameters, headers={"Accept": accept})
        assert found.headers["Content-Type"].split(";")[0] == media_type
    name = found.headers["Content-Disposition"]
    assert name == f'attachment; filename="{path.split("/")[2]}.ndjson"'
    refused = await client.get(path, headers={"Accept": "text/html"})
    assert (refused.status_code, refused.json()["code"]) == (406, "NOT_ACCEPTABLE")


async def test_a_result_that_is_known_is_not_sent_again(client: httpx.AsyncClient) -> None:
    path = await query_path(client)
    tags = set()
    for coding in ("identity", "gzip"):
        headers = {"Accept-Encoding": coding}
        tag = (await client.get(path, headers=headers)).headers["ETag"]
        # A proxy that compresses makes a tag weak.
        for known in (f'"other", {tag}', f'W/"other", W/{tag}', "*"):
            again = await client.get(path, headers=headers | {"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        tags.add(tag)
    assert len(tags) == 2


async def test_what_parquet_cannot_hold_is_a_problem(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.rows = UNFIT
    path = await query_path(client)
    refused = await client.get(path, params={"format": "PARQUET"})
    assert (refused.status_code, refused.json()["code"]) == (406, "NOT_ACCEPTABLE")
    assert "'for'" in refused.json()["detail"]
    assert (await client.get(path)).json() == {"fits": 1, "for": None}


def test_parquet_refuses_rows_without_columns() -> None:
    with pytest.raises(FormatUnfit):
        writer_of(DownloadFormat.PARQUET).add(WIDE.select([]))
    lines = writer_of(DownloadFormat.JSON_LINES).add(WIDE.slice(0, 2).select([]))
    assert lines == b"{}\n{}\n"


def test_columns_of_one_name_keep_their_values() -> None:
    rows = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    line = writer_of(DownloadFormat.JSON_LINES).add(rows)
    assert json.loads(line) == [{"name": "x", "value": 1}, {"name": "x", "value": 2}]


async def test_a_query_without_a_result_has_no_file(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.unfinished.add("select 1")
    path = await query_path(client, waitTimeout="0s")
    running = await client.get(path)
    assert (running.status_code, running.json()["code"]) == (404, "CHUNK_NOT_FOUND")
    gateway.queries.unfinished.clear()
    path = await query_path(client)
    gateway.queries.is_expired = True
    gone = await client.get(path)
    assert (gone.status_code, gone.json()["code"]) == (410, "RESULT_EXPIRED")
    unknown = await client.get("/query/00000000-0000-0000-0000-000000000009/result")
    assert unknown.status_code == 404


# ---- parts of a stream ------------------------------------------------------------------------------

ARROW = {"format": "ARROW_STREAM"}


@pytest.mark.parametrize(
    ("wanted", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-199", 10, 200),
        ("bytes=100-", 100, None),
        ("bytes=-7", -7, None),
        ("bytes=-999999", 0, None),
        ("bytes=5-99999999999999999", 5, None),
    ],
)
async def test_a_part_of_an_arrow_stream_is_that_part_of_its_bytes(
    client: httpx.AsyncClient, gateway: FakeGateway, wanted: str, start: int, stop: int | None
) -> None:
    gateway.queries.rows = WIDE
    path = await query_path(client)
    whole = await client.get(path, params=ARROW, headers={"Accept-Encoding": "identity"})
    assert (whole.status_code, whole.headers["Accept-Ranges"]) == (200, "bytes")
    assert int(whole.headers["Content-Length"]) == len(whole.content)
    # Its client takes compressed answers too; a part is never compressed.
    part = await client.get(path, params=ARROW, headers={"Range": wanted, "If-Range": whole.headers["ETag"]})
    assert (part.status_code, part.content) == (206, whole.content[start:stop])
    first, last = range(len(whole.content))[start:stop][0], range(len(whole.content))[start:stop][-1]
    assert part.headers["Content-Range"] == f"bytes {first}-{last}/{len(whole.content)}"
    assert int(part.headers["Content-Length"]) == len(part.content)
    assert (part.headers["ETag"], part.headers.get("Content-Encoding")) == (whole.headers["ETag"], None)


@pytest.mark.parametrize("wanted", ["bytes=99999-", "bytes=-0"])
async def test_a_range_without_bytes_is_a_problem(client: httpx.AsyncClient, wanted: str) -> None:
    path = await query_path(client)
    refused = await client.get(path, params=ARROW, headers={"Range": wanted})
    assert (refused.status_code, refused.json()["code"]) == (416, "RANGE_NOT_SATISFIABLE")
    assert refused.headers["Content-Range"].startswith("bytes */")


@pytest.mark.parametrize(
    "headers",
    [
        {"Range": "bytes=0-1, 4-5"},
        {"Range": "rows=0-1"},
        {"Range": "bytes=5-2"},
        {"Range": "bytes=-"},
        {"Range": "bytes=0-1", "If-Range": '"another"'},
        {"Range": "bytes=0-1", "If-Range": "Thu, 26 Nov 2026 00:00:00 GMT"},
    ],
)
async def test_a_range_that_cannot_be_served_gets_all_bytes(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    path = await query_path(client)
    whole = await client.get(path, params=ARROW, headers={"Accept-Encoding": "identity"})
    found = await client.get(path, params=ARROW, headers=headers)
    assert (found.status_code, found.content) == (200, whole.content)


async def test_other_files_have_no_parts(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    path = await query_path(client)
    for download_format in ("CSV", "JSON_LINES"):
        parameters = {"format": download_format}
        found = await client.get(path, params=parameters, headers={"Range": "bytes=0-1"})
        assert (found.status_code, found.headers.get("Accept-Ranges")) == (200, None)
    gateway.queries.has_files = False
    for parameters in (ARROW, PARQUET):
        found = await client.get(path, params=parameters, headers={"Range": "bytes=0-1"})
        assert (found.status_code, found.headers.get("Accept-Ranges")) == (200, None)
        head = await client.head(path, params=parameters, headers={"Accept-Encoding": "identity"})
        assert (head.status_code, head.headers.get("Content-Length")) == (200, None)
    assert pq.read_table(io.BytesIO(found.content)).num_rows


# ---- parts of a Parquet file ------------------------------------------------------------------------

PARQUET = {"format": "PARQUET"}


async def part(client: httpx.AsyncClient, path: str, wanted: str, **headers: str) -> httpx.Response:
    found = await client.get(path, params=PARQUET, headers={"Range": f"bytes={wanted}", **headers})
    assert found.status_code == 206, found.text
    return found


async def test_one_column_of_a_parquet_file_is_read_by_its_footer(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    rows = pa.table({"n": range(1000), "text": [f"row {number}" * 20 for number in range(1000)]})
    gateway.queries.rows, gateway.queries.chunk_rows = rows, 300
    path = await query_path(client)
    tail = await part(client, path, "-8")
    byte_count = int(tail.headers["Content-Range"].rpartition("/")[2])
    assert tail.content[4:] == b"PAR1"
    footer_bytes = int.from_bytes(tail.content[:4], "little") + 8
    same = {"If-Range": tail.headers["ETag"]}
    footer = await part(client, path, f"{byte_count - footer_bytes}-", **same)
    sparse = bytearray(byte_count)
    sparse[-footer_bytes:] = footer.content
    metadata = pq.read_metadata(io.BytesIO(sparse))
    assert (metadata.num_rows, metadata.num_row_groups) == (1000, 4)
    read_bytes = footer_bytes + 8
    for group in range(metadata.num_row_groups):
        column = metadata.row_group(group).column(0)
        start = column.dictionary_page_offset or column.data_page_offset
        stop = start + column.total_compressed_size
        pages = await part(client, path, f"{start}-{stop - 1}", **same)
        assert pages.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{byte_count}"
        sparse[start:stop] = pages.content
        read_bytes += stop - start
    assert pq.read_table(io.BytesIO(sparse), columns=["n"]) == rows.select(["n"])
    assert read_bytes < byte_count
    assert gateway.queries.formatted.written == 1


async def test_the_parts_of_a_parquet_file_are_those_of_its_stream(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.rows = WIDE
    path = await query_path(client)
    streamed = await client.get(path, params=PARQUET)
    assert gateway.queries.formatted.written == 0
    assert (streamed.headers.get("Content-Length"), streamed.headers.get("Accept-Ranges")) == (None, None)
    tag = streamed.headers["ETag"]
    rest = await part(client, path, "100-", **{"If-Range": tag})
    assert (rest.headers["ETag"], streamed.content[100:]) == (tag, rest.content)
    # From now on it is there.
    again = await client.get(path, params=PARQUET)
    assert (again.content, again.headers["ETag"]) == (streamed.content, tag)
    assert (int(again.headers["Content-Length"]), again.headers["Accept-Ranges"]) == (
        len(streamed.content),
        "bytes",
    )
    past = await client.get(path, params=PARQUET, headers={"Range": f"bytes={len(again.content)}-"})
    assert (past.status_code, past.headers["Content-Range"]) == (416, f"bytes */{len(again.content)}")


@pytest.mark.parametrize(
    "headers",
    [{"Range": "bytes=0-1, 4-5"}, {"Range": "rows=0-1"}, {"Range": "bytes=0-1", "If-Range": '"another"'}],
)
async def test_no_parquet_file_is_written_for_all_bytes(
    client: httpx.AsyncClient, gateway: FakeGateway, headers: dict[str, str]
) -> None:
    path = await query_path(client)
    found = await client.get(path, params=PARQUET, headers=headers)
    assert (found.status_code, gateway.queries.formatted.written) == (200, 0)
    assert pq.read_table(io.BytesIO(found.content)).num_rows


async def test_what_keeps_a_parquet_file_from_being_written_is_a_problem(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    queries, wanted = gateway.queries, {"Range": "bytes=-8"}
    queries.rows = WIDE
    queries.formatted = FakeFormattedFiles(total_bytes=100)
    path = await query_path(client)
    for method in ("GET", "HEAD"):
        large = await client.request(method, path, params=PARQUET, headers=wanted)
        assert large.status_code == 422
    queries.formatted = FakeFormattedFiles()
    queries.is_gone_after_its_first_rows = True
    gone = await client.get(path, params=PARQUET, headers=wanted)
    assert (gone.status_code, gone.json()["code"]) == (410, "RESULT_EXPIRED")
    queries.is_gone_after_its_first_rows = False
    queries.rows = UNFIT
    unfit = await client.get(path, params=PARQUET, headers=wanted)
    assert (unfit.status_code, unfit.json()["code"]) == (406, "NOT_ACCEPTABLE")
    assert queries.formatted.written == 0


async def test_only_who_may_read_a_result_reads_its_file(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    path = await query_path(client)
    await part(client, path, "-8")
    gateway.queries.is_expired = True
    gone = await client.get(path, params=PARQUET, headers={"Range": "bytes=-8"})
    assert (gone.status_code, gone.json()["code"]) == (410, "RESULT_EXPIRED")


async def test_requests_for_one_file_share_its_writing_and_leave_it(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    path = await query_path(client)
    files = gateway.queries.formatted
    files.may_write.clear()
    waiting = [asyncio.create_task(part(client, path, "-8")) for _ in range(5)]
    await until(lambda: files.asked > 0)
    # Whoever came first, and so made the call.
    waiting.pop(0).cancel()
    files.may_write.set()
    assert {(await each).content[4:] for each in waiting} == {b"PAR1"}
    assert (files.asked, files.written) == (1, 1)


async def test_a_file_that_takes_too_long_is_there_later(running: Running, gateway: FakeGateway) -> None:
    async with running(Settings(request_max_wait_s=1)) as client:
        path = await query_path(client)
        files = gateway.queries.formatted
        files.may_write.clear()
        late = await client.get(path, params=PARQUET, headers={"Range": "bytes=-8"})
        assert (late.status_code, late.json()["code"]) == (503, "GATEWAY_BUSY")
        assert late.headers["Retry-After"]
        files.may_write.set()
        await part(client, path, "-8")
        assert files.written == 1


# ---- HEAD -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coding", ["identity", "gzip", "zstd"])
@pytest.mark.parametrize("download_format", DownloadFormat)
async def test_the_head_of_a_download_is_that_of_its_bytes(
    client: httpx.AsyncClient, download_format: DownloadFormat, coding: str
) -> None:
    path = await query_path(client)
    asked: dict[str, Any] = {"params": {"format": download_format}, "headers": {"Accept-Encoding": coding}}
    head = await client.head(path, **asked)
    whole = await client.get(path, **asked)
    assert (head.status_code, head.content) == (200, b"")
    assert dict(head.headers) | {"x-request-id": ""} == dict(whole.headers) | {"x-request-id": ""}
    is_kept = download_format is DownloadFormat.PARQUET or (
        download_format is DownloadFormat.ARROW_STREAM and coding == "identity"
    )
    assert ("Content-Length" in head.headers) is ("Accept-Ranges" in head.headers) is is_kept
    # It has no parts, and is known as the file is.
    asked["headers"] |= {"Range": "bytes=0-1"}
    assert (await client.head(path, **asked)).status_code == 200
    known = await client.head(path, params=asked["params"], headers={"If-None-Match": "*"})
    assert known.status_code == 304


async def test_the_head_of_a_chunk_is_that_of_its_bytes(client: httpx.AsyncClient) -> None:
    path = (await query_path(client)).replace("/result", "/chunks/0")
    for accept in ("application/json", "text/csv", "application/vnd.apache.arrow.stream"):
        head = await client.head(path, headers={"Accept": accept})
        whole = await client.get(path, headers={"Accept": accept})
        assert (head.status_code, head.content) == (200, b"")
        assert dict(head.headers) | {"x-request-id": ""} == dict(whole.headers) | {"x-request-id": ""}
        assert int(head.headers["Content-Length"]) == len(whole.content)


async def test_the_head_of_what_is_not_there_is_its_status(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    path = await query_path(client)
    for missing in (path.replace("/result", "/chunks/99"), f"/query/{UUID(int=9)}/result"):
        assert (await client.head(missing)).status_code == 404
    gateway.queries.is_expired = True
    for gone in (path, path.replace("/result", "/chunks/0")):
        assert (await client.head(gone)).status_code == 410
