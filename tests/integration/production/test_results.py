"""Results come in chunks that never change, until they expire."""

from __future__ import annotations

import io
import json

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.integration.asking import ask, problem, rows
from tests.integration.guarded import CHUNK_ROWS, Guarded
from tests.polling import until

pytestmark = pytest.mark.integration

THREE_CHUNKS = f"SELECT id, CAST(id AS STRING) AS text FROM range({2 * CHUNK_ROWS + 50}) ORDER BY id"
ARROW = "application/vnd.apache.arrow.stream"


def test_chunks_follow_one_another_to_the_end(guarded: Guarded) -> None:
    answer = ask(guarded.alice, THREE_CHUNKS)
    chunk, found, offsets = answer["result"], [], []
    while chunk is not None:
        found += chunk["rows"]
        offsets.append((chunk["chunkIndex"], chunk["rowOffset"], chunk["rowCount"]))
        link = chunk["nextChunkLink"]
        chunk = guarded.alice.get(link).json() if link else None
    assert [row[0] for row in found] == list(range(2 * CHUNK_ROWS + 50))
    assert offsets == [(0, 0, CHUNK_ROWS), (1, CHUNK_ROWS, CHUNK_ROWS), (2, 2 * CHUNK_ROWS, 50)]
    assert answer["manifest"]["chunkCount"] == 3


def test_a_chunk_is_the_same_bytes_on_every_read(guarded: Guarded) -> None:
    path = f"/query/{ask(guarded.alice, THREE_CHUNKS)['queryId']}/chunks/1"
    for accept in ("application/json", "text/csv", ARROW):
        first, second = (guarded.alice.get(path, headers={"Accept": accept}) for _ in range(2))
        assert first.content == second.content
        assert first.headers["Content-Type"].split(";")[0] == accept
        cached = {"Accept": accept, "If-None-Match": first.headers["ETag"]}
        assert guarded.alice.get(path, headers=cached).status_code == 304


def test_a_result_can_be_read_as_csv(guarded: Guarded) -> None:
    answer = ask(guarded.alice, THREE_CHUNKS, format="CSV")
    assert (answer["result"]["rows"], answer["manifest"]["format"]) == ([], "CSV")
    lines, link = [], answer["result"]["nextChunkLink"]
    while link:
        response = guarded.alice.get(link)
        lines += response.text.split("\r\n")[:-1]
        link = response.links.get("next", {}).get("url")
    assert lines == ["id,text"] + [f"{number},{number}" for number in range(2 * CHUNK_ROWS + 50)]


def test_a_result_can_be_read_as_arrow(guarded: Guarded) -> None:
    answer = ask(guarded.alice, THREE_CHUNKS, format="ARROW_STREAM")
    tables, link = [], answer["result"]["nextChunkLink"]
    while link:
        response = guarded.alice.get(link)
        tables.append(pa.ipc.open_stream(response.content).read_all())
        link = response.links.get("next", {}).get("url")
    table = pa.concat_tables(tables)
    assert table.column("id").to_pylist() == list(range(2 * CHUNK_ROWS + 50))
    assert str(table.schema.field("text").type) == "string"


def test_a_result_can_be_downloaded_whole(guarded: Guarded) -> None:
    path = f"/query/{ask(guarded.alice, THREE_CHUNKS)['queryId']}/result"
    expected = [(number, str(number)) for number in range(2 * CHUNK_ROWS + 50)]
    found = {
        name: guarded.alice.get(path, params={"format": name})
        for name in ("JSON_LINES", "CSV", "ARROW_STREAM", "PARQUET")
    }
    assert {response.headers["X-Row-Count"] for response in found.values()} == {str(len(expected))}
    objects = [json.loads(line) for line in found["JSON_LINES"].text.splitlines()]
    assert [(row["id"], row["text"]) for row in objects] == expected
    assert found["CSV"].text.splitlines() == ["id,text"] + [f"{id},{text}" for id, text in expected]  # noqa: A001
    arrow = pa.ipc.open_stream(found["ARROW_STREAM"].content).read_all()
    parquet = pq.read_table(io.BytesIO(found["PARQUET"].content))
    for table in (arrow, parquet):
        assert list(zip(*table.to_pydict().values(), strict=True)) == expected
    problem(guarded.bob.get(path), 404, "QUERY_NOT_FOUND")


def test_a_chunk_that_does_not_exist_is_not_found(gateway: httpx.Client) -> None:
    query_id = ask(gateway, "SELECT 1")["queryId"]
    problem(gateway.get(f"/query/{query_id}/chunks/1"), 404, "CHUNK_NOT_FOUND")
    problem(gateway.get(f"/query/{query_id}/chunks/-1"), 422, "INVALID_REQUEST")
    problem(gateway.get(f"/query/{query_id}/chunks/0?format=XML"), 422, "INVALID_REQUEST")


def test_a_result_is_gone_when_its_time_has_ended(guarded: Guarded) -> None:
    answer = ask(guarded.alice, THREE_CHUNKS)
    path = f"/query/{answer['queryId']}/chunks/0"
    assert guarded.alice.get(path).status_code == 200
    until(lambda: guarded.alice.get(path).status_code != 200, within_s=20)
    problem(guarded.alice.get(path), 410, "RESULT_EXPIRED")
    later = guarded.alice.get(f"/query/{answer['queryId']}").json()
    assert (later["status"]["state"], later["manifest"], later["result"]) == ("SUCCEEDED", None, None)


def test_a_row_limit_cuts_and_says_so(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT id FROM range(100) ORDER BY id", rowLimit=7)
    assert answer["result"]["rows"] == [[number] for number in range(7)]
    assert answer["manifest"]["truncated"]
    exact = ask(gateway, "SELECT id FROM range(7)", rowLimit=7)
    assert (exact["manifest"]["totalRowCount"], exact["manifest"]["truncated"]) == (7, False)


def test_a_byte_limit_cuts_and_says_so(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT id, repeat('x', 1000) AS x FROM range(100) ORDER BY id", byteLimit=10_000)
    count = answer["manifest"]["totalRowCount"]
    assert answer["manifest"]["truncated"]
    assert 1 <= count <= 10
    assert answer["manifest"]["totalByteCount"] <= 10_000
    assert [row[0] for row in answer["result"]["rows"]] == list(range(count))


def test_the_default_row_limit_cuts_what_would_be_too_long(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT id FROM range(10001)")
    assert (answer["manifest"]["totalRowCount"], answer["manifest"]["truncated"]) == (10_000, True)


def test_an_order_holds_across_a_limit(gateway: httpx.Client) -> None:
    assert rows(gateway, "SELECT id FROM range(1000) ORDER BY id DESC", rowLimit=3) == [[999], [998], [997]]
