"""Two gateways over one PostgreSQL, one Valkey and one lake; the clock of one is off by an hour.

`make faults` tries it; `SLUICE_FAULTS=clock` selects it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from uuid import uuid4

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.contract.catalogs.ahead import goes_back_ms
from tests.faults.test_faults import ASKED_FOR, say
from tests.integration.asking import ask, explain, rows, start, state, status
from tests.integration.lakehouse import RETURNS, make, make_star, returns_row
from tests.integration.queries.test_dynamic_filtering import ALWAYS, applied, star
from tests.integration.replicas import killed, settings_over
from tests.integration.running import ENDLESS, REPOSITORY, RunningGateway, run_sluice
from tests.integration.servers import postgres, valkey
from tests.polling import until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not (ASKED_FOR == "all" or "clock" in ASKED_FOR), reason="run by `make faults`"),
]

HOUR_S = 3600
TABLE = "drill.returns"
PAIRS = 10
LOST_AFTER_S = 20.0
"""The default of `replica_lost_after_s`. A replica that a wrong clock makes lost is lost within that time."""
LOST_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class TwoClocks:
    """Two gateways over one lake. The clock of `wrong` is off."""

    right: RunningGateway
    wrong: RunningGateway
    lake: SqlCatalog

    def committed(self) -> list[int]:
        """Returns the numbers of all records in the table's files."""
        found: list[int] = self.lake.load_table(TABLE).scan().to_arrow()["return_id"].to_pylist()
        return sorted(found)


@contextmanager
def two_clocks(off_by_s: int) -> Iterator[TwoClocks]:
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="sluice-clocks-"))
        stack.callback(rmtree, folder, ignore_errors=True)
        database = stack.enter_context(postgres(folder / "database", "metrics", "lake"))
        cache = stack.enter_context(valkey())
        settings = settings_over(database, cache.url, folder) | {"SLUICE_FILTER_CACHE_LOCAL_BYTES": "0"}
        warehouse = (folder / "warehouse").as_uri()
        lake = SqlCatalog("lake", uri=database.url("lake"), warehouse=warehouse)
        stack.enter_context(closing(lake))
        make_star(lake)
        lake.create_namespace("drill")
        make(lake, TABLE, RETURNS).append(returns_row(0))
        migrated = run_sluice("migrate", folder / "right", settings)
        assert migrated.returncode == 0, migrated.stderr
        right = RunningGateway.start(folder / "right", settings)
        stack.callback(_stop, right)
        off = {
            "PYTHONPATH": f"{REPOSITORY / 'tests' / 'faults' / 'clock_off'}:{REPOSITORY}",
            "DRILL_CLOCK_OFF_BY_S": str(off_by_s),
        }
        wrong = RunningGateway.start(folder / "wrong", settings | off)
        stack.callback(_stop, wrong)
        yield TwoClocks(right, wrong, lake)


@pytest.mark.parametrize("off_by_s", [HOUR_S, -HOUR_S], ids=["ahead", "behind"])
def test_a_replica_whose_clock_is_off_loses_and_doubles_nothing(off_by_s: int) -> None:
    with two_clocks(off_by_s) as place:
        endless = start(place.wrong.client, ENDLESS)
        submitted = _submitted(place.wrong.client, endless)
        until(lambda: state(place.right.client, endless) == "RUNNING", 60)
        began_s = time.monotonic()
        # Each request is sent to one gateway, and again, with the same requestId, to the other.
        for number in range(1, PAIRS + 1):
            first, second = (place.right, place.wrong)[:: 1 if number % 2 else -1]
            request_id = str(uuid4())
            assert _ingest(first.client, number, request_id) == _ingest(second.client, number, request_id)
        assert place.committed() == list(range(PAIRS + 1))
        metadata = place.lake.load_table(TABLE).metadata
        assert goes_back_ms(metadata) == 0
        for gateway in (place.right, place.wrong):
            assert rows(gateway.client, f"SELECT count(*) FROM lake.{TABLE}") == [[PAIRS + 1]]
        # The second gateway finds the keys that the first has collected.
        sources = [_source(gateway.client, star(3)) for gateway in (place.wrong, place.right)]
        sources += [_source(gateway.client, star(2)) for gateway in (place.right, place.wrong)]
        until(lambda: time.monotonic() - began_s > LOST_AFTER_S + 5, 60)
        assert state(place.right.client, endless) == "RUNNING"
        killed(place.wrong)
        killed_s = time.monotonic()
        until(lambda: state(place.right.client, endless) == "FAILED", LOST_WITHIN_S)
        lost_s = time.monotonic() - killed_s
        error = status(place.right.client, endless)["status"]["error"]["code"]
    say(
        f"\nclock of one replica off by {off_by_s} s: {PAIRS} records sent to both, each in the table once;"
        f" filters {' '.join(sources)};"
        f" submitted at {submitted}; its query was lost {lost_s:.1f} s after its end"
    )
    assert sources == ["COLLECTED", "CACHED"] * 2
    assert error == "REPLICA_LOST"


def _ingest(client: httpx.Client, number: int, request_id: str) -> str:
    body = {"table": f"lake.{TABLE}", "records": [{"return_id": number, "reason": "drill"}]}
    response = client.post("/ingest", json=body | {"requestId": request_id})
    assert response.status_code == 200, response.text
    ingest_id: str = response.json()["ingestId"]
    return ingest_id


def _submitted(client: httpx.Client, query_id: str) -> str:
    listed = client.get("/query").raise_for_status().json()["queries"]
    [found] = [query["submittedAt"] for query in listed if query["queryId"] == query_id]
    return str(found)


def _source(client: httpx.Client, sql: str) -> str:
    [found] = applied(explain(client, ask(client, sql, **ALWAYS)["queryId"]))
    source: str = found["source"]
    return source


def _stop(gateway: RunningGateway) -> None:
    if gateway.process.poll() is None:
        gateway.stop()
