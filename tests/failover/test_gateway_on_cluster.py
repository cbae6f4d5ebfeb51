"""A gateway answers queries while the cluster's master that has the keys of its filters is killed.

`make failover` runs it, prints seconds, and asserts them.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.failover.test_failover import BACK_WITHIN_S, say
from tests.failover.valkey_group import cluster
from tests.integration.asking import ask, explain
from tests.integration.lakehouse import DAYS, DAYS_PER_MONTH, make_star, sales_on
from tests.integration.queries.test_dynamic_filtering import ALWAYS, applied
from tests.integration.replicas import settings_over
from tests.integration.running import RunningGateway, run_sluice
from tests.integration.servers import postgres
from tests.polling import until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not os.environ.get("SLUICE_FAILOVER"), reason="run by `make failover`"),
]

CALLERS = 2
CALM_S = 3.0
LONGEST_S = 10.0
# Each number makes a new filter.
SQL = (
    "SELECT count(*) AS sales FROM sales AS f JOIN calendar AS c ON f.day_key = c.day_key"
    " WHERE month = {month} AND day_name <> 'nobody {number}'"
)
RIGHT = {
    1 + first // DAYS_PER_MONTH: sum(sales_on(day) for day in range(first, first + DAYS_PER_MONTH))
    for first in range(0, DAYS, DAYS_PER_MONTH)
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A query that was run twice. `is_shared`: the second run got its keys from the cache."""

    began_s: float
    ended_s: float
    longest_s: float
    is_shared: bool


@dataclass
class Callers:
    """Callers that run queries until the block ends; `wrong` has every answer without the right rows."""

    gateway: RunningGateway
    asked: list[Asked] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unready: list[str] = field(default_factory=list)
    cache_states: set[str] = field(default_factory=set)
    ended: threading.Event = field(default_factory=threading.Event)
    numbers: count[int] = field(default_factory=lambda: count(1))

    @contextmanager
    def asking(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._ask, daemon=True) for _ in range(CALLERS)]
        threads.append(threading.Thread(target=self._look, daemon=True))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.ended.set()
            for thread in threads:
                thread.join(120)

    def is_calm_since(self, moment_s: float) -> bool:
        """Returns whether several queries have begun since then, and all of them shared their keys."""
        found = [pair for pair in list(self.asked) if pair.began_s >= moment_s]
        return len(found) > CALLERS and all(pair.is_shared for pair in found)

    def _ask(self) -> None:
        with self.gateway.client_with() as client:
            while not self.ended.is_set():
                try:
                    self.asked.append(self._twice(client, next(self.numbers)))
                except Exception as failure:  # noqa: BLE001 -- every failure of a caller counts
                    self.wrong.append(repr(failure)[:500])

    def _twice(self, client: httpx.Client, number: int) -> Asked:
        month = 1 + number % len(RIGHT)
        began_s, longest_s, is_shared = time.monotonic(), 0.0, True
        for source in ("COLLECTED", "CACHED"):
            asked_s = time.monotonic()
            answer = ask(client, SQL.format(month=month, number=number), **ALWAYS)
            longest_s = max(longest_s, time.monotonic() - asked_s)
            if (rows := answer["result"]["rows"]) != [[RIGHT[month]]]:
                self.wrong.append(f"month {month} has {rows}")
            # Without the cache, the scan is still filtered.
            [found] = applied(explain(client, answer["queryId"]))
            is_shared &= (found["source"], found["cacheNote"]) == (source, "")
        return Asked(began_s, time.monotonic(), longest_s, is_shared)

    def _look(self) -> None:
        with self.gateway.client_with() as client:
            while not self.ended.wait(0.2):
                answer = client.get("/readyz")
                if answer.status_code != 200:
                    self.unready.append(answer.text)
                self.cache_states.add(answer.json()["parts"]["filterCache"]["state"])


@contextmanager
def gateway_with(cache_url: str, folder: Path) -> Iterator[RunningGateway]:
    """Runs a gateway over a small star schema, without a cache of its own."""
    with ExitStack() as stack:
        database = stack.enter_context(postgres(folder / "database", "metrics", "lake"))
        settings = settings_over(database, cache_url, folder) | {"SLUICE_FILTER_CACHE_LOCAL_BYTES": "0"}
        catalog = json.loads(settings["SLUICE_CATALOGS"])["lake"]
        make_star(stack.enter_context(closing(SqlCatalog("lake", **catalog))))
        migrated = run_sluice("migrate", folder / "gateway", settings)
        assert migrated.returncode == 0, migrated.stderr
        gateway = RunningGateway.start(folder / "gateway", settings)
        stack.callback(gateway.stop)
        yield gateway


def test_queries_are_answered_while_the_master_with_the_keys_is_killed() -> None:
    with ExitStack() as stack:
        # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
        folder = Path(tempfile.mkdtemp(prefix="sluice-failover-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        group = stack.enter_context(cluster(folder / "cluster", replica_count=1, is_lopsided=True))
        callers = Callers(stack.enter_context(gateway_with(group.url, folder)))
        with callers.asking():
            until(lambda: callers.is_calm_since(time.monotonic() - CALM_S), 120)
            lost_at_s = time.monotonic()
            group.primaries[0].kill()
            # Otherwise, a loss that nobody has noticed yet would look like a recovery.
            until(lambda: _unshared(callers, lost_at_s), 30)
            until(lambda: callers.is_calm_since(time.monotonic() - CALM_S), 120)
    meanwhile = [pair for pair in callers.asked if pair.ended_s >= lost_at_s]
    missed = _unshared(callers, lost_at_s)
    last_s = max(pair.ended_s for pair in missed)
    back_after_s = min(pair.ended_s for pair in meanwhile if pair.began_s >= last_s) - lost_at_s
    longest_s = max(pair.longest_s for pair in meanwhile)
    say(
        f"\nCluster, the master with all keys killed under a gateway: keys are shared again after"
        f" {back_after_s:.1f} s; {len(meanwhile)} pairs of queries since, {len(missed)} of them without it,"
        f" {len(callers.wrong)} failed, the slowest query took {longest_s:.1f} s"
    )
    assert callers.wrong == []
    assert callers.unready == []
    assert callers.cache_states == {"UP", "DOWN"}
    assert back_after_s < BACK_WITHIN_S
    assert longest_s < LONGEST_S


def _unshared(callers: Callers, since_s: float) -> list[Asked]:
    return [pair for pair in list(callers.asked) if pair.ended_s >= since_s and not pair.is_shared]
