"""Two gateways with one folder of results: each serves what the other has run."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.integration.asking import JsonObject, ask, problem, status
from tests.integration.replicas import Replicas, replicas
from tests.polling import until

pytestmark = pytest.mark.integration

COUNT = 60_000
SQL = f"SELECT id, CAST(id AS STRING) AS text FROM range(0, {COUNT}, 1, 3)"
LONG = {"rowLimit": 1_000_000}
ARROW = {"format": "ARROW_STREAM"}
PLAIN = {"Accept-Encoding": "identity"}
TTL_S = 60


@pytest.fixture(scope="module")
def results(folder: Path) -> Path:
    return folder / "shared results"


@pytest.fixture(scope="module")
def both(folder: Path, results: Path) -> Iterator[Replicas]:
    settings = {
        "SLUICE_RESULTS_URL": results.as_uri(),
        "SLUICE_RESULT_TASK_INLINE_BYTES": "1000",
        "SLUICE_RESULT_TTL_S": str(TTL_S),
        "SLUICE_CHUNK_ROWS": "7000",
    }
    with replicas(folder / "sharing", settings) as started:
        yield started


def run(client: httpx.Client, sql: str = SQL) -> str:
    answer = ask(client, sql, **LONG)
    assert answer["status"]["state"] == "SUCCEEDED", answer
    query_id: str = answer["queryId"]
    return query_id


def known(client: httpx.Client, query_id: str) -> JsonObject:
    """Returns the query's answer once this gateway knows that it has ended: its record takes a moment."""

    def is_known() -> bool:
        found = client.get(f"/query/{query_id}")
        return found.status_code == 200 and found.json()["manifest"] is not None

    until(is_known)
    return status(client, query_id)


def whole(client: httpx.Client, query_id: str, **headers: str) -> httpx.Response:
    return client.get(f"/query/{query_id}/result", params=ARROW, headers=PLAIN | headers)


def test_a_parquet_file_is_read_in_parts_from_either_gateway(both: Replicas) -> None:
    here, there = both.here.client, both.there.client
    path, parquet = f"/query/{run(here)}/result", {"format": "PARQUET"}
    known(there, path.split("/")[2])
    streamed = here.get(path, params=parquet)
    byte_count, half = len(streamed.content), len(streamed.content) // 2
    read = b""
    for client, wanted in ((there, f"0-{half - 1}"), (here, f"{half}-")):
        asked = {"Range": f"bytes={wanted}", "If-Range": streamed.headers["ETag"]}
        found = client.get(path, params=parquet, headers=asked)
        assert found.status_code == 206, found.text
        assert found.headers["Content-Range"].endswith(f"/{byte_count}")
        assert int(client.head(path, params=parquet).headers["Content-Length"]) == byte_count
        read += found.content
    assert read == streamed.content
    assert pq.read_table(io.BytesIO(read)).column("id").to_pylist() == list(range(COUNT))


def test_the_other_gateway_answers_every_way_to_read(both: Replicas, results: Path) -> None:
    here, there = both.here.client, both.there.client
    query_id = run(here)
    files = {path.name for path in (results / query_id).iterdir()}
    assert len([name for name in files if name.endswith(".part")]) == 3, files
    mine, theirs = status(here, query_id), known(there, query_id)
    assert theirs["manifest"] == mine["manifest"]
    assert theirs["result"] == mine["result"]
    for index in range(mine["manifest"]["chunkCount"]):
        path = f"/query/{query_id}/chunks/{index}"
        found, expected = there.get(path), here.get(path)
        assert (found.status_code, found.content) == (200, expected.content)
        assert found.headers["ETag"] == expected.headers["ETag"]
    first, second = whole(here, query_id), whole(there, query_id)
    assert first.content == second.content
    table = pa.ipc.open_stream(second.content).read_all()
    assert table.column("id").to_pylist() == list(range(COUNT))
    parquet = there.get(f"/query/{query_id}/result", params={"format": "PARQUET"})
    assert pq.read_table(io.BytesIO(parquet.content)).equals(table)


def test_a_download_goes_on_at_the_other_gateway(both: Replicas) -> None:
    here, there = both.here.client, both.there.client
    query_id = run(here)
    known(there, query_id)
    complete = whole(here, query_id)
    half = len(complete.content) // 2
    rest = whole(there, query_id, **{"Range": f"bytes={half}-", "If-Range": complete.headers["ETag"]})
    assert (rest.status_code, complete.content[:half] + rest.content) == (206, complete.content)
    problem(whole(there, query_id, Range="bytes=999999999-"), 416, "RANGE_NOT_SATISFIABLE")


def test_few_rows_are_served_there_as_well(both: Replicas) -> None:
    query_id = run(both.there.client, "SELECT 1 AS n")
    assert known(both.here.client, query_id)["result"]["rows"] == [[1]]
    problem(both.here.client.get(f"/query/{query_id}/chunks/1"), 404, "CHUNK_NOT_FOUND")


def test_a_slow_reader_and_one_that_reads_twice_get_the_same(both: Replicas) -> None:
    query_id = run(both.here.client)
    known(both.there.client, query_id)
    with both.there.client.stream("GET", f"/query/{query_id}/result", params=ARROW, headers=PLAIN) as slow:
        pieces = slow.iter_raw(10_000)
        read = [next(pieces)]
        complete = whole(both.there.client, query_id).content
        assert b"".join([*read, *pieces]) == complete
    # One that goes away in the middle harms nobody.
    with both.there.client.stream("GET", f"/query/{query_id}/result", params=ARROW, headers=PLAIN) as left:
        next(left.iter_raw(10_000))
    assert whole(both.there.client, query_id).content == complete


def test_a_failed_query_leaves_no_rows(both: Replicas, results: Path) -> None:
    before = set(results.iterdir())
    sql = f"SELECT IF(id = {COUNT - 1}, raise_error('no'), id) AS n FROM range(0, {COUNT}, 1, 3)"
    failed = both.here.client.post("/query", json={"sql": sql, "waitTimeout": "50s", **LONG})
    assert failed.status_code == 422, failed.text
    until(lambda: set(results.iterdir()) <= before)


def test_a_result_ends_at_both_gateways_and_leaves_the_folder(both: Replicas, results: Path) -> None:
    query_id = run(both.here.client)
    known(both.there.client, query_id)
    until(lambda: both.there.client.get(f"/query/{query_id}/chunks/0").status_code == 410, TTL_S + 30)
    problem(whole(both.there.client, query_id), 410, "RESULT_EXPIRED")
    problem(both.here.client.get(f"/query/{query_id}/chunks/0"), 410, "RESULT_EXPIRED")
    until(lambda: not (results / query_id).exists(), TTL_S + 60)


def test_results_outlive_the_gateway_that_ran_them(both: Replicas) -> None:
    query_id = run(both.there.client)
    known(both.here.client, query_id)
    complete = whole(both.here.client, query_id).content
    both.there.stop()
    assert whole(both.here.client, query_id).content == complete
