"""A pruner that knows earlier rewrites prunes as one that does not, whatever changes between two queries."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa
import pytest

from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import PruningRequest, QueryRequest
from service.model.tables.tables import TableName
from service.query.filtering.known_rewrites import KnownRewrites
from service.query.filtering.prune import Pruner
from service.query.filtering.pruned_query import PrunedQuery
from tests.fakes.catalogs import FakeCatalogs
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.key_collector import FakeKeyCollector
from tests.fakes.pruner import pruner
from tests.unit.pruning.tables import TABLES

STEPS = 25
# Rows beside wider ones are fetched after eight queries.
ASKED_UNTIL_FETCHED = 9
YEARS = (2000, 2001)
TEXT = (
    "SELECT f.note, d.day FROM sales AS f JOIN calendar AS d ON f.day_key = d.day_key WHERE d.year = {year}"
)
SALES, CALENDAR = TableName("lake", "shop", "sales"), TableName("lake", "shop", "calendar")
OPTIONS = (
    PruningRequest(),
    PruningRequest(max_in_list=1),
    PruningRequest(rewrites=frozenset()),
    PruningRequest(is_verified=True),
)


class World:
    """Tables, keys and rows in memory that change, and both pruners over them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.catalogs = FakeCatalogs(
            tables=(facts for at, facts in TABLES.items() if at.version.kind == "NOW")
        )
        self.cache = FakeFilterCache()
        self.reader = FakeKeyCollector()
        self.plain = pruner(
            self.catalogs,
            FakeEngine(),
            self.cache,
            FakeClock(),
            is_enabled=True,
            executor=ThreadPoolExecutor(1),
            reader=self.reader,
        )
        parts = self.plain
        self.known = KnownRewrites(1 << 20)
        self.knowing = Pruner(
            parts._detections, parts._collector, parts._relations, parts._bounds, None, self.known
        )
        self.put_keys()

    def put_keys(self) -> None:
        """Gives the calendar other keys, as a commit to it does."""
        snapshot = self.catalogs.facts(CALENDAR).snapshot_id
        for year in YEARS:
            keys = tuple((key,) for key in sorted(self.random.sample(range(20), 4)))
            source = f"FROM `lake`.`shop`.`calendar` VERSION AS OF {snapshot} AS `t0` WHERE"
            condition = f"`t0`.`year` = {year}"
            self.reader.put(
                f"SELECT DISTINCT `t0`.`day_key` AS `k0` {source} {condition} AND NOT `t0`.`day_key` IS NULL",
                keys,
            )
            self.reader.put_rows(
                f"SELECT `t0`.`day_key`, `t0`.`day`, `t0`.`year` {source} ({condition})",
                pa.table({"day_key": [key for (key,) in keys]}),
            )

    def change(self) -> None:
        """Does something that a later query may depend on."""
        match self.random.randrange(5):
            case 0:
                self.catalogs.append(SALES, 7)
            case 1:
                self.catalogs.append(CALENDAR, 7)
                self.put_keys()
            case 2:
                self.cache.stored.clear()
            case _:
                pass

    def lose_rows(self) -> None:
        """Loses the rows in memory, as with the engine."""
        self.plain._relations._relations.lose()  # type: ignore[attr-defined]

    def settled(self, request: QueryRequest) -> PrunedQuery:
        """Asks as often as it takes until nothing more is collected or fetched in the background."""
        for _ in range(ASKED_UNTIL_FETCHED):
            asked(self.plain, request)
            self.plain._relations._executor.submit(lambda: None).result()
        return asked(self.plain, request)

    def request(self) -> QueryRequest:
        """Returns one of a few queries."""
        options, year = self.random.choice(OPTIONS), self.random.choice(YEARS)
        return QueryRequest(TEXT.format(year=year), (), "lake", "shop", pruning=options)


def asked(by: Pruner, request: QueryRequest) -> PrunedQuery:
    """Returns the query without its times."""
    pruned = by.prune(request, FULL_ACCESS, lambda: False)
    return replace(pruned, parse_ms=0, detect_ms=0, filters_ms=0)


@pytest.mark.parametrize("seed", range(6))
def test_known_rewrites_are_those_of_a_pruner_that_knows_none(seed: int) -> None:
    world = World(seed)
    for _ in range(STEPS):
        world.change()
        request = world.request()
        expected = world.settled(request)
        assert asked(world.knowing, request) == expected
        assert asked(world.knowing, request) == expected
        world.lose_rows()
        assert asked(world.plain, request) == asked(world.knowing, request)
    assert (world.known._known.use.hits or 0) >= STEPS


def test_keys_that_are_not_trusted_any_more_are_not_in_known_rewrites() -> None:
    world = World(0)
    request = QueryRequest(TEXT.format(year=2000), (), "lake", "shop")
    world.settled(request)
    known = asked(world.knowing, request)
    assert asked(world.knowing, request) == known
    assert known.fingerprints
    world.plain.distrust(known)
    assert not asked(world.knowing, request).fingerprints


def test_a_pruner_knows_nothing_with_no_memory_for_it() -> None:
    world = World(0)
    none = KnownRewrites(0)
    forgetful = Pruner(
        world.plain._detections,
        world.plain._collector,
        world.plain._relations,
        world.plain._bounds,
        None,
        none,
    )
    request = world.request()
    assert asked(forgetful, request).sql
    asked(forgetful, request)
    assert none._known.use.hits == 0
