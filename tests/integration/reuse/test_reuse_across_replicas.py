"""Two gateways with one folder of results: each answers with what the other has run."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from service.adapters.reuse.run_leases import LEASES
from service.adapters.reuse.shared_index import ENTRIES
from sluice_client import Bounds, connect
from tests.integration.asking import JsonObject, ask, explain
from tests.integration.replicas import Replicas, replicas
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration

SALES = "SELECT count(*) AS n, sum(amount) AS amount FROM sales"
SLOW = "SELECT count(*) AS n FROM sales s CROSS JOIN range(0, 100000) r WHERE s.sale_id + r.id >= 0"


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[Replicas]:
    settings = {"SLUICE_RESULTS_URL": (folder / "results of both").as_uri()}
    with replicas(folder / "reusing", settings) as started:
        yield started


def answer(gateway: RunningGateway, sql: str, **body: Any) -> JsonObject:
    return ask(gateway.client, sql, **({"reuseResult": True} | body))


def test_what_one_has_run_the_other_answers_until_the_next_commit(both: Replicas) -> None:
    first = answer(both.here, SALES)
    again = answer(both.there, f"{SALES} -- of a dashboard")
    assert first["reused"] is None
    assert again["reused"]["kind"] == "RESULT"
    assert again["reused"]["from"] == first["queryId"] != again["queryId"]
    assert again["reused"]["ageMs"] >= 0
    assert (again["result"]["rows"], again["manifest"]) == (first["result"]["rows"], first["manifest"])
    assert explain(both.there.client, again["queryId"])["reused"] == again["reused"]
    table = both.lake.load_table("shop.sales")
    table.append(table.scan(limit=1).to_arrow().cast(table.schema().as_arrow()))
    fresh = answer(both.there, SALES)
    assert fresh["reused"] is None
    assert fresh["result"]["rows"][0][0] == first["result"]["rows"][0][0] + 1
    assert answer(both.here, SALES)["reused"]["from"] == fresh["queryId"]
    # The choice of one caller counts for the others of both.
    renewed = answer(both.here, SALES, reuseResult="REFRESH")
    assert answer(both.there, SALES)["reused"]["from"] == renewed["queryId"]


def test_equal_queries_at_both_run_once(both: Replicas) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda at: answer((both.here, both.there)[at % 2], SLOW), range(8)))
    [leader] = [each["queryId"] for each in found if each["reused"] is None]
    assert {each["reused"]["from"] for each in found if each["reused"] is not None} == {leader}
    assert len({str(each["result"]["rows"]) for each in found}) == 1
    with both.client() as client:
        assert client.keys(f"{ENTRIES}*")
        assert not client.keys(f"{LEASES}*")


def test_a_result_larger_than_a_chunk_is_read_at_the_other(both: Replicas) -> None:
    sql = "SELECT id, CAST(id AS STRING) AS text FROM range(0, 25000, 1, 3)"
    first = answer(both.here, sql, rowLimit=100_000)
    again = answer(both.there, sql, rowLimit=100_000)
    assert (first["reused"], again["reused"]["from"]) == (None, first["queryId"])
    read = []
    for index in range(again["manifest"]["chunkCount"]):
        path = f"/query/{again['queryId']}/chunks/{index}"
        chunk = both.there.client.get(path, params={"format": "ARROW_STREAM"})
        read.append(pa.ipc.open_stream(chunk.content).read_all())
    assert pa.concat_tables(read).column("id").to_pylist() == list(range(25_000))
    assert len(read) > 1
    with connect(both.there.url, bounds=Bounds(block_bytes=100_000)) as connection:
        result = connection.query(sql, row_limit=100_000, reuse_result=True)
        assert result.reused is not None
        assert result.arrow() == pa.concat_tables(read)
    assert answer(both.there, sql, rowLimit=10)["reused"] is None
