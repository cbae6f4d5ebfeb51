"""Two gateways write for one requestId, and one is killed between its commit and the record of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy import create_engine, text

from service.model.writes.writes import MARK
from tests.integration.asking import ask, post, start, status
from tests.integration.replicas import killed, settings_over
from tests.integration.running import RunningGateway, run_sluice
from tests.integration.servers import Postgres, postgres, valkey
from tests.polling import until
from tests.tcp_proxy import TcpProxy

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1500)]

TABLE = "lake.shop.once"
# Some seconds, in which the row of the metrics store can be locked.
SLOW_INSERT = f"INSERT INTO {TABLE} SELECT max(pmod(hash(id), 2)) FROM range(0, 400000000, 1, 1)"


@dataclass(frozen=True, slots=True)
class Both:
    """Two gateways, their metrics store, and their catalog as another process opens it."""

    here: RunningGateway
    there: RunningGateway
    database: Postgres
    to_catalog: TcpProxy
    lake: SqlCatalog

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lets nobody change the catalog's pointers until the end of the block."""
        engine = create_engine(self.database.url("lake"))
        with closing(engine.connect()) as locking:
            locking.execute(text("LOCK TABLE iceberg_tables IN SHARE ROW EXCLUSIVE MODE"))
            yield
            locking.rollback()
        engine.dispose()

    def has_waiting(self) -> bool:
        """Whether a change of the catalog waits."""
        waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'iceberg_tables'::regclass"
        return bool(self.database.read("lake", waiting))

    def marks(self) -> list[str]:
        """Returns the ids of the queries that have committed to the table, in order."""
        snapshots = self.lake.load_table("shop.once").snapshots()
        summaries = [each.summary.additional_properties for each in snapshots if each.summary is not None]
        return [summary[MARK] for summary in summaries if MARK in summary]

    def values(self) -> list[int]:
        """Returns the values of the table's rows, in their order."""
        found: list[int] = self.lake.load_table("shop.once").scan().to_arrow()["n"].to_pylist()
        return sorted(found)

    def rows(self) -> int:
        """Returns how many rows the table has."""
        return len(self.values())


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[Both]:
    room = folder / "once"
    with ExitStack() as stack:
        database = stack.enter_context(postgres(room / "database", "metrics", "lake"))
        cache = stack.enter_context(valkey())
        settings = settings_over(database, cache.url, room) | {
            "SLUICE_SQL_WRITES": "true",
            "SLUICE_REPLICA_HEARTBEAT_INTERVAL_S": "1",
            "SLUICE_REPLICA_LOST_AFTER_S": "20",
        }
        lake = stack.enter_context(
            closing(SqlCatalog("lake", **json.loads(settings["SLUICE_CATALOGS"])["lake"]))
        )
        to_catalog = stack.enter_context(TcpProxy(lambda _: [database.port]))
        settings["SLUICE_CATALOGS"] = settings["SLUICE_CATALOGS"].replace(
            f":{database.port}/", f":{to_catalog.port}/"
        )
        lake.create_namespace("shop")
        lake.create_table("shop.once", pa.schema([("n", pa.int32())]))
        migrated = run_sluice("migrate", room / "here", settings)
        assert migrated.returncode == 0, migrated.stderr
        here = RunningGateway.start(room / "here", settings, within_s=500.0)
        stack.callback(here.kill)
        there = RunningGateway.start(room / "there", settings, within_s=500.0)
        stack.callback(there.kill)
        yield Both(here, there, database, to_catalog, lake)


def test_one_request_writes_once_at_two_gateways(both: Both) -> None:
    request_id, before = str(uuid4()), both.rows()
    sql = f"INSERT INTO {TABLE} VALUES (7)"

    def send(client: httpx.Client) -> httpx.Response:
        return post(client, sql, requestId=request_id)

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(send, (both.here.client, both.there.client)))
    # Who comes second while the first one runs gets a 409, and asks again.
    assert {answer.status_code for answer in answers} <= {200, 202, 409}
    until(lambda: both.rows() > before, within_s=120)
    for gateway in (both.here, both.there):
        write = _repeated(partial(send, gateway.client)).json()["write"]
        assert write["state"] == "COMMITTED"
        assert (both.rows(), both.marks()) == (before + 1, [write["queryId"]])


def test_a_repeat_that_came_too_early_is_answered_later(both: Both) -> None:
    request_id, before = str(uuid4()), both.rows()
    query_id = start(both.here.client, SLOW_INSERT, requestId=request_id)
    until(lambda: status(both.here.client, query_id)["write"], within_s=120)
    early = post(both.there.client, SLOW_INSERT, requestId=request_id)
    assert (early.status_code, early.json()["code"]) == (409, "WRITE_RUNNING"), early.text
    assert early.headers["Retry-After"] == "5"
    until(lambda: query_id in both.marks(), within_s=120)
    repeat = _repeated(lambda: post(both.there.client, SLOW_INSERT, requestId=request_id))
    assert repeat.json()["write"]["queryId"] == query_id
    assert both.rows() == before + 1


@pytest.mark.parametrize(
    ("sql", "taken", "given"),
    [
        (f"DELETE FROM {TABLE} WHERE n = 100", 100, []),
        (
            f"MERGE INTO {TABLE} t USING (SELECT 200 AS n) s ON t.n = s.n WHEN MATCHED THEN DELETE "
            "WHEN NOT MATCHED THEN INSERT *",
            200,
            [],
        ),
        (f"INSERT INTO {TABLE} VALUES (300)", None, [300]),
    ],
    ids=["delete", "merge", "insert"],
)
def test_a_commit_whose_answer_is_lost_is_found(
    both: Both, sql: str, taken: int | None, given: list[int]
) -> None:
    ask(both.here.client, f"INSERT INTO {TABLE} VALUES (100), (100), (200)")
    expected = sorted([*(value for value in both.values() if value != taken), *given])
    request_id = str(uuid4())
    with both.held():
        query_id = start(both.here.client, sql, requestId=request_id)
        until(both.has_waiting, within_s=120)
        # The database has the change, and makes it although nobody waits for it any more.
        both.to_catalog.cut()
    write = _repeated(lambda: post(both.there.client, sql, requestId=request_id)).json()["write"]
    assert (write["queryId"], write["state"]) == (query_id, "COMMITTED")
    # No file of it was taken away as that of a failed commit, and nothing was done twice.
    assert both.marks().count(query_id) == 1
    assert both.values() == expected


def test_a_commit_that_was_not_recorded_is_found_and_not_repeated(both: Both) -> None:
    request_id, before = str(uuid4()), both.rows()
    query_id = start(both.here.client, SLOW_INSERT, requestId=request_id)
    engine = create_engine(both.database.url("metrics"))
    begun = text("SELECT state FROM sql_writes WHERE query_id = :query_id")
    with closing(engine.connect()) as watching, closing(engine.connect()) as locking:

        def recorded() -> str | None:
            state: str | None = watching.execute(begun, {"query_id": query_id}).scalar()
            watching.rollback()
            return state

        assert until(recorded, within_s=120) == "RUNNING"
        # Nobody can record the end of it from now on.
        locking.execute(text("LOCK TABLE sql_writes IN EXCLUSIVE MODE"))
        until(lambda: query_id in both.marks(), within_s=120)
        killed(both.here)
        locking.rollback()
        assert recorded() == "RUNNING"
    engine.dispose()
    client = both.there.client
    until(lambda: status(client, query_id)["status"]["state"] == "FAILED", within_s=120)
    write = status(client, query_id)["write"]
    assert (write["state"], write["rowsAffected"]) == ("COMMITTED", 1)
    # The same request again: its first outcome, and no second write.
    again = ask(client, SLOW_INSERT, requestId=request_id)
    assert again["write"] == write
    assert both.rows() == before + 1


def _repeated(send: Callable[[], httpx.Response]) -> httpx.Response:
    """Sends a request until its outcome is known, and returns that answer."""
    refused: list[str] = []

    def sent() -> httpx.Response | None:
        answer = send()
        if answer.status_code == 200:
            return answer
        refused.append(answer.text)
        return None

    try:
        answer = until(sent, within_s=120)
    except AssertionError as late:
        late.add_note(f"The last answer: {refused[-1]}")
        raise
    assert answer is not None
    return answer
