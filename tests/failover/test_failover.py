"""Servers are lost under load: how long callers wait, and that nothing acknowledged is lost or doubled.

`make failover` runs it, prints seconds and losses, and asserts both.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest

import migrations
from service.adapters.clock import SystemClock
from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.adapters.postgres.ingest_log.ingest_log import PostgresIngestLog
from service.adapters.postgres.shared.outage import Outage
from service.errors.unavailable import MetricsStoreDown
from service.ingest.committing.commit_pace import CommitPace
from service.model.filters.key_set import FilterSource
from service.model.ingest.ingest import IngestCommit, IngestRecord, IngestState
from tests.contract.catalogs.plain_data_files import target_of, written
from tests.failover.postgres_pair import Pair, postgres_pair
from tests.failover.valkey_group import cluster, watched
from tests.fakes.filters import Collecting, date_filter
from tests.fakes.ingests import ACCEPTED_AT
from tests.integration.ingest.lakehouse import IngestLakehouse
from tests.polling import until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not os.environ.get("SLUICE_FAILOVER"), reason="run by `make failover`"),
]

BACK_WITHIN_S = 10.0
PROMOTED_AFTER_S = 2.0
"""The time that an operator takes to notice the loss of the first server, and to promote the second."""
SENDERS = 4
BEFORE_S, AFTER_S = 3.0, 5.0
FAILOVER_S = 10.0
"""The default of `metrics_store_failover_s`."""


def say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="sluice-failover-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def catalog_url() -> Iterator[str]:
    """The URL of a catalog that is not on the lost servers."""
    path = Path(tempfile.mkdtemp(prefix="sluice-failover-catalog-"))
    server = EmbeddedPostgres.start(path, ("lake",))
    yield server.url("lake")
    server.stop()
    shutil.rmtree(path, ignore_errors=True)


# ---- PostgreSQL ------------------------------------------------------------------------------------


@dataclass
class Sent:
    """An acknowledged ingest, with the times of its request's begin and end."""

    record: IngestRecord
    id: int
    began_s: float
    ended_s: float


@dataclass
class Senders:
    """Each sends one ingest after the other; a refused one is repeated with the same id."""

    lakehouse: IngestLakehouse
    log: PostgresIngestLog
    acknowledged: list[Sent] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    """The times at which a request got an error."""
    stop: threading.Event = field(default_factory=threading.Event)
    ids: count[int] = field(default_factory=count)

    def run(self) -> None:
        table = self.lakehouse.table()
        target = target_of(table, self.lakehouse.key)
        while not self.stop.is_set():
            number = next(self.ids)
            result = written(table, target, [number])
            key = self.lakehouse.key
            record = IngestRecord(uuid4(), "ann", uuid4(), "f00d", ACCEPTED_AT, (IngestCommit(key, ()),))
            while True:
                began_s = time.monotonic()
                try:
                    accepted = self.log.accept(record, [result])
                except MetricsStoreDown:
                    self.refused.append(time.monotonic())
                    if self.stop.wait(0.1):
                        return
                else:
                    self.acknowledged.append(Sent(accepted, number, began_s, time.monotonic()))
                    break


@dataclass(frozen=True)
class Outcome:
    """The result of a PostgreSQL drill."""

    back_after_s: float
    longest_s: float
    acknowledged: int
    refused: int
    lost: int
    doubled: int
    committed_after_s: float

    def __str__(self) -> str:
        return (
            f"writable again after {self.back_after_s:.1f} s, longest request {self.longest_s:.1f} s;"
            f" {self.acknowledged} acknowledged, {self.refused} answered by an error, {self.lost} lost,"
            f" {self.doubled} doubled; all in the table {self.committed_after_s:.1f} s after the last"
        )


def drill(folder: Path, catalog_url: str, pair: Pair, lose: Callable[[], None], options: str = "") -> Outcome:
    """Sends ingests while `lose` removes the first server and the second is promoted."""
    migrations.upgrade(pair.url(options))
    with ExitStack() as stack:
        warehouse = folder / "warehouse"
        warehouse.mkdir()
        table_name = f"t_{uuid4().hex[:8]}"
        lakehouse = IngestLakehouse(pair.url(options), catalog_url, warehouse.as_uri(), table_name, stack)
        for _ in range(2):
            # These are two replicas, with the pauses of real gateways.
            lakehouse.start_committer(pace=CommitPace())
        log = PostgresIngestLog(pair.url(options), outage=Outage(FAILOVER_S, SystemClock()))
        stack.callback(log.close)
        senders = Senders(lakehouse, log)
        threads = [threading.Thread(target=senders.run, daemon=True) for _ in range(SENDERS)]
        for thread in threads:
            thread.start()
        time.sleep(BEFORE_S)
        lost_at_s = time.monotonic()
        lose()
        gone_at_s = time.monotonic()
        time.sleep(max(0.0, lost_at_s + PROMOTED_AFTER_S - gone_at_s))
        pair.second.promote()
        until(lambda: any(ingest.ended_s > gone_at_s for ingest in list(senders.acknowledged)), 60)
        time.sleep(AFTER_S)
        senders.stop.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        sent = senders.acknowledged
        ended_s = time.monotonic()
        until(lambda: lakehouse.states([ingest.record for ingest in sent]) == {IngestState.COMMITTED}, 120)
        committed_after_s = time.monotonic() - ended_s
        found = Counter(lakehouse.ids())
    # An ingest that was never acknowledged may be there once, as its sender cannot know.
    return Outcome(
        min(ingest.ended_s for ingest in sent if ingest.ended_s > gone_at_s) - lost_at_s,
        max(ingest.ended_s - ingest.began_s for ingest in sent),
        len(sent),
        len(senders.refused),
        sum(ingest.id not in found for ingest in sent),
        sum(times - 1 for times in found.values()),
        committed_after_s,
    )


@pytest.mark.parametrize("mode", ["immediate", "fast"])
def test_a_primary_that_is_lost_costs_seconds_and_no_record(
    folder: Path, catalog_url: str, mode: str
) -> None:
    with postgres_pair(folder) as pair:
        outcome = drill(folder, catalog_url, pair, lambda: pair.first.stop(mode))
    say(f"\nPostgreSQL, primary stopped ({mode}), promoted after {PROMOTED_AFTER_S:g} s: {outcome}")
    assert (outcome.lost, outcome.doubled) == (0, 0)
    assert outcome.back_after_s < BACK_WITHIN_S
    assert outcome.refused == 0


def test_a_primary_that_stands_still_is_left_in_time_and_costs_no_record(
    folder: Path, catalog_url: str
) -> None:
    with postgres_pair(folder) as pair:
        outcome = drill(folder, catalog_url, pair, pair.first.pause)
    say(f"\nPostgreSQL, primary stands still, promoted after {PROMOTED_AFTER_S:g} s: {outcome}")
    assert (outcome.lost, outcome.doubled) == (0, 0)
    # The network gives no sign of the failure, so callers wait as long as a statement may take.
    assert outcome.back_after_s < BACK_WITHIN_S
    assert outcome.refused == 0


# ---- the filter cache ------------------------------------------------------------------------------


@dataclass(frozen=True)
class CacheOutcome:
    """The result of a filter cache drill."""

    back_after_s: float
    longest_s: float
    asked: int
    failed: int

    def __str__(self) -> str:
        return (
            f"keys are shared again after {self.back_after_s:.1f} s; {self.asked} filters asked for,"
            f" {self.failed} failed, the slowest took {self.longest_s:.2f} s"
        )


def drill_cache(url: str, lose: Callable[[], None]) -> CacheOutcome:
    """Requests filters all the time while `lose` removes a server."""
    with closing(RedisFilterCache(url, SystemClock(), FilterCacheBounds(local_bytes=0))) as cache:
        took: list[float] = []
        failed = 0

        def all_are_shared() -> bool:
            nonlocal failed
            is_shared = True
            # In a cluster, each server has some of the filters.
            for dynamic_filter in [date_filter() for _ in range(8)]:
                for wanted_source in (FilterSource.COLLECTED, FilterSource.CACHED):
                    began_s = time.monotonic()
                    try:
                        found = cache.obtain(dynamic_filter, Collecting(), 10)
                    except Exception:  # noqa: BLE001 -- failures are counted, and asserted to be zero
                        failed += 1
                        is_shared = False
                    else:
                        is_shared &= found.source is wanted_source and found.note == ""
                    took.append(time.monotonic() - began_s)
            return is_shared

        until(all_are_shared, 30)
        lost_at_s = time.monotonic()
        lose()
        # Otherwise, a loss that clients have not noticed yet would look like a recovery.
        until(lambda: not all_are_shared(), 5)
        until(all_are_shared, 60)
        return CacheOutcome(time.monotonic() - lost_at_s, max(took), len(took), failed)


@pytest.mark.parametrize("way", ["killed", "stands still"])
def test_a_master_that_is_lost_costs_seconds_and_no_filter(folder: Path, way: str) -> None:
    with watched(folder) as group:
        outcome = drill_cache(group.url, group.master.kill if way == "killed" else group.master.pause)
    say(f"\nSentinel, master {way}: {outcome}")
    assert outcome.failed == 0
    assert outcome.back_after_s < BACK_WITHIN_S
    assert outcome.longest_s < 5


@pytest.mark.parametrize("way", ["killed", "stands still"])
def test_a_master_of_a_cluster_that_is_lost_costs_seconds_and_no_filter(folder: Path, way: str) -> None:
    with cluster(folder) as group:
        lost = group.primaries[0]
        outcome = drill_cache(group.url, lost.kill if way == "killed" else lost.pause)
    say(f"\nCluster, a master {way}: {outcome}")
    assert outcome.failed == 0
    assert outcome.back_after_s < BACK_WITHIN_S
    assert outcome.longest_s < 5
