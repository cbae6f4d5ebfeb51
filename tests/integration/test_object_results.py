"""Two gateways whose results are in one object store: the rows are those of a folder, and nothing is left."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.integration.asking import JsonObject, ask, status
from tests.integration.object_store.server import ObjectStore, object_store
from tests.integration.replicas import Replicas, replicas
from tests.polling import until

pytestmark = pytest.mark.integration

COUNT = 60_000
SQL = f"SELECT id, CAST(id AS STRING) AS text FROM range(0, {COUNT}, 1, 3)"
ENDLESS = "SELECT id, uuid() AS u FROM range(0, 1000000000, 1, 4)"
LONG = {"rowLimit": 1_000_000}
PLAIN = {"Accept-Encoding": "identity"}
TTL_S = 60
BUCKET, PREFIX = "answers", "of/queries"
SETTINGS = {
    "SLUICE_RESULT_TASK_INLINE_BYTES": "1000",
    "SLUICE_RESULT_TTL_S": str(TTL_S),
    "SLUICE_CHUNK_ROWS": "7000",
    "SLUICE_MAX_BYTE_LIMIT": str(1 << 36),
    "SLUICE_RESULTS_TIMEOUT_S": "2",
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
        lines = download(client, query_id, "NDJSON").text.splitlines()
        assert [json.loads(line)["id"] for line in lines] == list(range(COUNT))
        assert download(client, query_id, "CSV").text.splitlines()[1:3] == ["0,0", "1,1"]
        half = len(stream.content) // 2
        rest = download(client, query_id, Range=f"bytes={half}-")
        assert (rest.status_code, stream.content[:half] + rest.content) == (206, stream.content)
    paths = [f"/query/{query_id}/chunks/{index}" for index in range(mine["manifest"]["chunkCount"])]
    chunks = [(shared.here.get(path), shared.there.get(path)) for path in paths]
    assert all(one.content == other.content for one, other in chunks)
    assert all(one.headers["ETag"] == other.headers["ETag"] for one, other in chunks)
