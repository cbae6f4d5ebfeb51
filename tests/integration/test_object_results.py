"""Two gateways whose results are in one object store: the rows are those of a folder, and nothing is left."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.integration.asking import JsonObject, ask, cancel, post, problem, readiness, start, status
from tests.integration.object_store.server import ObjectStore, object_store
from tests.integration.replicas import Replicas, killed, replicas
from tests.polling import until

pytestmark = pytest.mark.integration

COUNT = 60_000
SQL = f"SELECT id, CAST(id AS STRING) AS text FROM range(0, {COUNT}, 1, 3)"
PARTLY_ENDLESS = (
    "SELECT id, uuid() AS u FROM range(0, 20000, 1, 4) UNION ALL "
    "SELECT id, 'x' FROM range(0, 1000000000000, 1, 1) WHERE hash(id) = 1 AND hash(id, 1) = hash(id, 2)"
)
FAILS_LATE = f"SELECT IF(id = {COUNT - 1}, raise_error('no'), id) AS n FROM range(0, {COUNT}, 1, 3)"
LONG = {"rowLimit": 1_000_000}
PLAIN = {"Accept-Encoding": "identity"}
TTL_S = 60
BUCKET, PREFIX = "answers", "of/queries"
SETTINGS = {
    "SLUICE_RESULT_TASK_INLINE_BYTES": "1000",
    "SLUICE_RESULT_TTL_S": str(TTL_S),
    "SLUICE_CHUNK_ROWS": "7000",
    "SLUICE_MAX_BYTE_LIMIT": str(1 << 36),
    "SLUICE_RESULTS_TIMEOUT_S": "5",
}


@dataclass(frozen=True)
class Shared:
    """The gateways, and the store of their results."""

    both: Replicas
    store: ObjectStore

    @property
    def here(self) -> httpx.Client:
        return self.both.here.client

    @property
    def there(self) -> httpx.Client:
        return self.both.there.client

    def names(self, query_id: str) -> list[str]:
        """The names of the objects of a query."""
        prefix = f"{PREFIX}/{query_id}/"
        return [key.removeprefix(prefix) for key in self.store.keys(BUCKET, prefix)]


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[Shared]:
    (folder / "objects").mkdir()
    with object_store(folder / "objects" / "store.log") as store:
        store.make_bucket(BUCKET)
        settings = SETTINGS | {
            "SLUICE_RESULTS_URL": f"s3://{BUCKET}/{PREFIX}",
            "SLUICE_RESULTS_PROPERTIES": json.dumps(store.properties),
        }
        with replicas(folder / "objects" / "gateways", settings) as both:
            yield Shared(both, store)


def run(client: httpx.Client, sql: str = SQL, **body: object) -> str:
    query_id: str = ask(client, sql, **(LONG | body))["queryId"]
    return query_id


def known(client: httpx.Client, query_id: str) -> JsonObject:
    """Returns the query's answer once this gateway knows that it has ended: its record takes a moment."""

    def is_known() -> bool:
        found = client.get(f"/query/{query_id}")
        return found.status_code == 200 and found.json()["manifest"] is not None

    until(is_known)
    return status(client, query_id)


def download(
    client: httpx.Client, query_id: str, form: str = "ARROW_STREAM", **headers: str
) -> httpx.Response:
    return client.get(f"/query/{query_id}/result", params={"format": form}, headers=PLAIN | headers)


def expected() -> pa.Table:
    return pa.table({"id": range(COUNT), "text": [str(number) for number in range(COUNT)]})


def test_both_gateways_serve_all_rows_in_order_in_every_format(shared: Shared) -> None:
    query_id = run(shared.here)
    assert len([name for name in shared.names(query_id) if name.endswith(".part")]) == 3
    mine, theirs = status(shared.here, query_id), known(shared.there, query_id)
    assert (theirs["manifest"], theirs["result"]) == (mine["manifest"], mine["result"])
    for client in (shared.here, shared.there):
        stream = download(client, query_id)
        table = pa.ipc.open_stream(stream.content).read_all()
        assert table.to_pylist() == expected().to_pylist()
        assert pq.read_table(io.BytesIO(download(client, query_id, "PARQUET").content)).equals(table)
        lines = download(client, query_id, "JSON_LINES").text.splitlines()
        assert len(lines) == COUNT
        assert str(COUNT - 1) in lines[-1]
        assert download(client, query_id, "CSV").text.splitlines()[1:3] == ["0,0", "1,1"]
        half = len(stream.content) // 2
        rest = download(client, query_id, Range=f"bytes={half}-")
        assert (rest.status_code, stream.content[:half] + rest.content) == (206, stream.content)
    paths = [f"/query/{query_id}/chunks/{index}" for index in range(mine["manifest"]["chunkCount"])]
    chunks = [(shared.here.get(path), shared.there.get(path)) for path in paths]
    assert all(one.content == other.content for one, other in chunks)
    assert all(one.headers["ETag"] == other.headers["ETag"] for one, other in chunks)


def test_few_rows_are_served_there_as_well(shared: Shared) -> None:
    query_id = run(shared.there, "SELECT 1 AS n")
    assert known(shared.here, query_id)["result"]["rows"] == [[1]]
    problem(shared.here.get(f"/query/{query_id}/chunks/1"), 404, "CHUNK_NOT_FOUND")


@pytest.mark.parametrize(
    ("limits", "count"), [({"rowLimit": 31_234}, 31_234), ({"byteLimit": 240_000, **LONG}, 30_000)]
)
def test_rows_keep_their_order_up_to_their_limit(limits: dict[str, int], count: int, shared: Shared) -> None:
    sql = f"SELECT id FROM range(0, {COUNT}, 1, 7) ORDER BY id DESC"
    query_id = ask(shared.here, sql, **limits)["queryId"]
    manifest = known(shared.there, query_id)["manifest"]
    assert (manifest["totalRowCount"], manifest["truncated"]) == (count, True)
    table = pa.ipc.open_stream(download(shared.there, query_id).content).read_all()
    assert table.column("id").to_pylist() == list(range(COUNT - 1, COUNT - 1 - count, -1))


def test_a_query_that_ends_without_a_result_leaves_no_objects(shared: Shared) -> None:
    canceled = start(shared.here, PARTLY_ENDLESS, **LONG)
    until(lambda: len(shared.names(canceled)) >= 4, 60)
    cancel(shared.here, canceled)
    until(lambda: shared.names(canceled) == [])
    failed = post(shared.here, FAILS_LATE, **LONG)
    assert failed.status_code == 422, failed.text
    until(lambda: shared.names(failed.json()["queryId"]) == [])


def test_a_result_is_reused_at_the_other_gateway_without_a_copy(shared: Shared) -> None:
    sql = "SELECT s.sale_id, r.id FROM sales AS s CROSS JOIN range(0, 100, 1, 2) AS r"
    first = ask(shared.here, sql, reuseResult=True, **LONG)
    again = ask(shared.there, sql, reuseResult=True, **LONG)
    assert again["reused"]["from"] == first["queryId"] != again["queryId"]
    assert download(shared.there, again["queryId"]).content == download(shared.here, first["queryId"]).content
    assert shared.names(again["queryId"]) == ["manifest.json"]
    assert f"claims/{again['queryId']}" in shared.names(first["queryId"])


def test_a_store_that_falls_silent_fails_large_results_alone_and_in_time(shared: Shared) -> None:
    before = run(shared.here)
    known(shared.there, before)
    with shared.store.silent():
        begun = time.monotonic()
        failed = post(shared.here, SQL, **LONG)
        problem(failed, 503, "RESULT_STORE_DOWN")
        assert int(failed.headers["Retry-After"]) > 0
        assert ask(shared.here, "SELECT 1 AS n")["result"]["rows"] == [[1]]
        problem(shared.here.get(f"/query/{before}/chunks/0"), 503, "RESULT_STORE_DOWN")
        problem(download(shared.there, before), 503, "RESULT_STORE_DOWN")
        assert time.monotonic() - begun < 120
        until(lambda: state_of(shared.here) == "DOWN", 30)
        assert readiness(shared.here)[0] == 200
    for client in (shared.here, shared.there):
        until(lambda client=client: state_of(client) == "UP", 60)  # type: ignore[misc]
    assert download(shared.here, before).status_code == 200
    assert run(shared.here)


def state_of(client: httpx.Client) -> str:
    """Returns the state of the store of results, as `/readyz` has it."""
    _, body = readiness(client)
    found: str = body["parts"]["resultStore"]["state"]
    return found


def test_results_outlive_a_killed_gateway_until_their_time_is_over(shared: Shared) -> None:
    own, query_id = run(shared.here), run(shared.there)
    known(shared.here, query_id)
    complete = download(shared.here, query_id).content
    killed(shared.both.there)
    assert download(shared.here, query_id).content == complete
    until(lambda: shared.here.get(f"/query/{query_id}/chunks/0").status_code == 410, TTL_S + 30)
    # The next sweep takes them away, though nobody asks for anything.
    until(lambda: shared.names(own) == [], 90)
