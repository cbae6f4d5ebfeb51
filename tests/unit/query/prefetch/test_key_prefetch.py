"""After a commit, sets are collected with the rights that they were asked with, within bounds."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from service.errors.query_errors import QueryCanceled, QueryFailed
from service.model.authentication.principals import Principal, PrincipalKind
from service.model.filters.key_set import DynamicFilteringData, FilterSource
from service.model.operations.usage import PoolUse
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS, Access, Allowed
from service.model.policies.policies import Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.query.prefetch import PrefetchOutcome
from service.model.query.query import Parameter, Parameters, QueryRequest, QueryState
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.policies.live_policies import LivePolicies
from service.ports.engine.query_engine import EngineResult, Statement
from service.query.execution.check_parameters import check_parameters
from service.query.filtering.asked_requests import AskedRequests
from service.query.filtering.prefetched_sets import PendingSets
from service.query.filtering.pruned_query import PrunedQuery
from service.query.prefetch.frequent_sets import FrequentBounds, FrequentSets
from service.query.prefetch.key_prefetch import RETRY_AFTER_MS, KeyPrefetch, PrefetchBounds, PrefetchParts
from service.query.prefetch.rights import PrefetchRights
from service.query.prefetch.watched_tables import WatchedTables
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.key_collector import FakeKeyCollector
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.policy_store import FakePolicyStore
from tests.fakes.pruner import pruner
from tests.fakes.query_history import FakeQueryHistory
from tests.fakes.query_records import short_record
from tests.polling import until
from tests.unit.pruning.tables import TABLES

SALES, CALENDAR = TableName("lake", "shop", "sales"), TableName("lake", "shop", "calendar")
ANY = TablePattern.parse("*.*.*")
ANN = Principal("ann", PrincipalKind.KEY, frozenset({"analyst"}))
GRANTED = PolicySet(1, (Grant("analyst", Action.SELECT, ANY),), (), (), ())
FILTERED = (RowFilter("analyst", TablePattern.parse(str(CALENDAR)), "month = 1"),)
HOUR_MS = 3_600_000


def sql_of(year: object) -> str:
    return (
        "SELECT f.note FROM lake.shop.sales AS f JOIN lake.shop.calendar AS d ON f.day_key = d.day_key"
        f" WHERE d.year = {year}"
    )


def keys_of(year: object, snapshot_id: int) -> str:
    return (
        f"SELECT DISTINCT `t0`.`day_key` AS `k0` FROM `lake`.`shop`.`calendar` VERSION AS OF {snapshot_id}"
        f" AS `t0` WHERE `t0`.`year` = {year} AND NOT `t0`.`day_key` IS NULL"
    )


@dataclass
class Rig:
    """A gateway's pruner and prefetch over fakes; a test asks, commits and looks."""

    policies: PolicySet | None = None
    sets_per_table: int = 10
    engine: FakeEngine = field(default_factory=FakeEngine)
    use: list[PoolUse] = field(default_factory=list)
    """The collectors' use at the next times that it is read; later, they are idle."""
    is_taking: bool = True
    faulty: str = ""
    is_asked_elsewhere: bool = False
    """Queries are asked of another replica, which writes the same records."""

    def __post_init__(self) -> None:
        self.clock = FakeClock()
        self.catalogs = FakeCatalogs(
            tables=(table for at, table in TABLES.items() if at.version.kind == "NOW")
        )
        self.cache = FakeFilterCache(self.clock)
        self.reader = FakeKeyCollector()
        self.store = FakeMetricsStore()
        self.asked = AskedRequests(self.clock, 1 << 20)
        self.threads = ThreadPoolExecutor(2)
        self.pauses = 0
        self.pruner = pruner(
            self.catalogs,
            self.engine,
            self.cache,
            self.clock,
            is_enabled=True,
            reader=self.reader,
            executor=self.threads,
            rewrites=frozenset(),
            asked=AskedRequests(self.clock, 1 << 20) if self.is_asked_elsewhere else self.asked,
        )
        self.policy_store = FakePolicyStore(self.clock, self.policies)
        self.live = LivePolicies(self.policy_store, self.clock)
        self.live.refresh()
        bounds = FrequentBounds(
            history=timedelta(hours=1), tables=8, sets_per_table=self.sets_per_table, read_every_ms=60_000
        )
        self.prefetch = KeyPrefetch(
            PrefetchParts(
                sets=self.pruner.prefetched,
                frequent=FrequentSets(FakeQueryHistory(self.store), self.clock, bounds),
                tables=WatchedTables(self.catalogs),
                rights=PrefetchRights(self.asked, HOUR_MS, is_governed=self.policies is not None),
                collectors=lambda: self.use.pop(0) if self.use else PoolUse(0, 2),
                is_taking=lambda: self.is_taking,
                check=self._check,
                clock=self.clock,
            ),
            PrefetchBounds(sets_per_table=self.sets_per_table, round_s=30, interval_s=10),
            self._pause,
        )

    def ask(
        self, year: object = 2000, parameters: Parameters = (), times: int = 2, access: Access | None = None
    ) -> PrunedQuery:
        """Prunes the query and records it, so many times."""
        request = QueryRequest(sql_of(year), parameters, "lake", "shop")
        for _ in range(times):
            pruned = self.pruner.prune(request, access or self.access(), lambda: False)
            self.record(request.sql, pruned)
        return pruned

    def record(self, sql: str, pruned: PrunedQuery) -> None:
        record = replace(
            short_record(self.clock.now()),
            sql=sql,
            catalog="lake",
            schema="shop",
            state=QueryState.SUCCEEDED,
            filters=pruned.filters,
        )
        self.store.record([record])

    def access(self) -> Access:
        return FULL_ACCESS if self.policies is None else self.live.access_of(ANN)

    def can_read(self, *years: object) -> None:
        for year in years:
            for snapshot_id in range(10):
                self.reader.put(keys_of(year, snapshot_id), ((3,), (9,)))

    def commit(self, table: TableName = CALENDAR, takes_s: float = 60) -> None:
        facts = self.catalogs.facts(table)
        self.catalogs.put(replace(facts, snapshot_id=(facts.snapshot_id or 0) + 1))
        self.clock.advance(timedelta(seconds=takes_s))
        self.reader.collected.clear()

    def look(self) -> dict[PrefetchOutcome, int]:
        """Looks, and returns what came of sets in this look."""
        before = self.prefetch.outcomes
        self.prefetch.look()
        now = self.prefetch.outcomes
        return {each: now[each] - before[each] for each in now if now[each] > before[each]}

    def sources(self, pruned: PrunedQuery) -> list[FilterSource]:
        return [record.source for record in pruned.filters if record.is_candidate]

    def _check(self, request: QueryRequest) -> None:
        assert request.sql != self.faulty
        check_parameters(request.sql, request.parameters)

    def _pause(self, seconds: float) -> None:
        self.pauses += 1
        self.clock.advance(timedelta(seconds=seconds))


@pytest.fixture
def rig() -> Rig:
    rig = Rig()
    rig.can_read(2000, 2001, 2002)
    return rig


def test_after_a_commit_the_first_query_finds_its_keys_cached(rig: Rig) -> None:
    rig.ask()
    rig.commit()
    assert rig.sources(rig.ask(times=1)) == [FilterSource.COLLECTED]
    rig.look()
    rig.commit()
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}
    assert len(rig.reader.collected) == 1
    assert rig.sources(rig.ask(times=1)) == [FilterSource.CACHED]
    assert len(rig.reader.collected) == 1


def test_a_table_without_a_commit_is_left_alone(rig: Rig) -> None:
    rig.ask()
    assert rig.look() == {PrefetchOutcome.CACHED: 1}
    rig.clock.advance(timedelta(minutes=1))
    assert rig.look() == {}
    rig.commit(SALES)
    assert rig.look() == {}


def test_a_text_that_was_asked_once_is_not_frequent(rig: Rig) -> None:
    rig.ask(times=1)
    assert rig.look() == {}


def test_only_the_sets_that_were_asked_for_most_are_collected() -> None:
    rig = Rig(sets_per_table=2)
    rig.can_read(2000, 2001, 2002)
    for year, times in ((2000, 2), (2001, 4), (2002, 3)):
        rig.ask(year, times=times)
    rig.commit()
    assert rig.look() == {PrefetchOutcome.COLLECTED: 2}
    assert sorted(key.split("year` = ")[1][:4] for key in rig.reader.collected) == ["2001", "2002"]


def test_values_of_parameters_are_those_that_were_asked_with(rig: Rig) -> None:
    year = {"year": Parameter(2000)}
    for snapshot_id in range(10):
        rig.reader.put(keys_of(":year", snapshot_id), ((3,), (9,)))
    rig.ask(":year", year)
    rig.commit()
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}
    assert rig.sources(rig.ask(":year", year, times=1)) == [FilterSource.CACHED]


def test_a_text_of_another_replica_is_collected_unless_its_values_are_missing() -> None:
    rig = Rig(is_asked_elsewhere=True)
    rig.can_read(2000)
    pruned = rig.ask()
    for sql in (sql_of(":year"), sql_of(":year"), sql_of("?"), sql_of("?")):
        rig.record(sql, pruned)
    rig.commit()
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}
    assert rig.engine.runs == []
    assert rig.sources(rig.ask(times=1)) == [FilterSource.CACHED]


def test_under_policies_a_set_is_collected_with_the_rights_of_who_asked() -> None:
    filtered = replace(GRANTED, row_filters=FILTERED)
    rig = Rig(policies=filtered)
    rig.ask()
    rig.engine.runs.clear()
    rig.commit()
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}
    # The reader knows no policies.
    [collection] = rig.engine.runs
    assert (rig.reader.collected, collection.is_rehearsal) == ([], True)
    decided = collection.access.decide(Action.SELECT, CALENDAR)
    assert isinstance(decided, Allowed)
    assert "month = 1" in str(decided.restriction.row_filter)
    assert rig.sources(rig.ask(times=1)) == [FilterSource.CACHED]
    # Nobody else finds it.
    other = Rig.ask(rig, times=1, access=FULL_ACCESS)
    assert FilterSource.CACHED not in rig.sources(other)


@pytest.mark.parametrize(
    "after",
    [
        replace(GRANTED, version=2, row_filters=FILTERED),
        replace(GRANTED, version=2, grants=()),
    ],
    ids=["other_rows", "no_rows"],
)
def test_a_right_that_was_taken_away_collects_nothing(after: PolicySet) -> None:
    rig = Rig(policies=GRANTED)
    rig.can_read(2000)
    rig.ask()
    rig.live.replace(after, expected_version=1, by="ops")
    rig.engine.runs.clear()
    rig.commit()
    assert rig.look() == {PrefetchOutcome.NOT_ALLOWED: 1}
    assert (rig.engine.runs, rig.reader.collected) == ([], [])


def test_while_policies_are_not_known_nothing_is_collected() -> None:
    rig = Rig(policies=GRANTED)
    rig.can_read(2000)
    rig.ask()
    rig.policy_store.is_down = True
    rig.clock.advance(timedelta(minutes=6))
    rig.commit()
    assert rig.look() == {PrefetchOutcome.NOT_ALLOWED: 1}


def test_under_policies_nothing_is_collected_that_was_not_asked_here() -> None:
    rig = Rig(policies=GRANTED, is_asked_elsewhere=True)
    rig.can_read(2000)
    rig.ask()
    rig.commit()
    assert rig.look() == {}


def test_under_policies_the_rights_of_the_gateway_itself_are_not_used() -> None:
    rig = Rig(policies=GRANTED)
    rig.can_read(2000)
    rig.ask(access=FULL_ACCESS)
    rig.commit()
    assert rig.look() == {PrefetchOutcome.NOT_ALLOWED: 1}


def test_rights_that_were_used_long_ago_are_not_used() -> None:
    rig = Rig(policies=GRANTED)
    rig.can_read(2000)
    rig.ask()
    rig.clock.advance(timedelta(milliseconds=HOUR_MS + 1))
    rig.live.refresh()
    pruned = rig.pruner.prune(QueryRequest("SELECT 1"), rig.access(), lambda: False)
    assert pruned.filters == ()
    rig.commit()
    assert rig.look() == {}


def test_it_waits_for_a_collector_that_no_query_needs(rig: Rig) -> None:
    rig.ask()
    rig.commit()
    rig.use = [PoolUse(2, 2), PoolUse(1, 2, waiting=1), PoolUse(1, 2)]
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}
    assert rig.pauses == 2


def test_if_all_collectors_are_in_use_to_the_end_nothing_is_collected(rig: Rig) -> None:
    rig.ask()
    rig.commit()
    rig.use = [PoolUse(2, 2)] * 1_000
    assert rig.look() == {}
    assert 250 <= rig.pauses <= 310
    # The next look finds a free one.
    rig.use = []
    rig.clock.advance(timedelta(minutes=1))
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}
    rig.clock.advance(timedelta(minutes=1))
    assert rig.look() == {}


def test_a_collection_ends_when_a_query_waits_for_its_thread(rig: Rig) -> None:
    rig.ask()
    rig.commit()
    free = PoolUse(0, 2)
    # The call that waited has a thread by the time that the collection has ended.
    rig.use = [free, free, PoolUse(2, 2, waiting=1)]
    assert rig.look() == {PrefetchOutcome.INTERRUPTED: 1}
    rig.clock.advance(timedelta(minutes=1))
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}


def test_a_collection_goes_on_while_a_thread_is_free_for_a_query(rig: Rig) -> None:
    rig.ask()
    rig.commit()
    free = PoolUse(0, 2)
    rig.use = [free, free, *[PoolUse(1, 2, waiting=1)] * 20]
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}


def test_a_set_that_was_interrupted_after_half_of_a_round_is_not_tried_again_for_a_while() -> None:
    class Long(FakeEngine):
        def run(self, statement: Statement) -> EngineResult:
            if not statement.is_rehearsal:
                return super().run(statement)
            asking.clock.advance(timedelta(seconds=16))
            asking.use = [PoolUse(2, 2, waiting=1)]
            assert statement.is_canceled()
            raise QueryCanceled

    asking = Rig(engine=Long())
    asking.ask()
    asking.commit()
    assert asking.look() == {PrefetchOutcome.INTERRUPTED: 1}
    asking.clock.advance(timedelta(minutes=1))
    assert asking.look() == {}


def test_a_set_that_failed_is_not_tried_again_for_a_while() -> None:
    rig = Rig()
    rig.ask()
    rig.commit()
    rig.engine.outcomes.append(QueryFailed("It is too large."))
    assert rig.look() == {PrefetchOutcome.FAILED: 1}
    rig.commit()
    assert rig.look() == {}
    rig.clock.advance(timedelta(milliseconds=RETRY_AFTER_MS))
    rig.ask()
    rig.commit()
    rig.engine.outcomes.append(QueryFailed("It is too large."))
    assert rig.look() == {PrefetchOutcome.FAILED: 1}


def test_a_fault_in_one_text_leaves_the_others_alone(rig: Rig) -> None:
    rig.ask(2000, times=3)
    rig.ask(2001)
    rig.commit()
    rig.faulty = sql_of(2000)
    assert rig.look() == {PrefetchOutcome.FAILED: 1, PrefetchOutcome.COLLECTED: 1}


def test_a_set_that_is_collected_elsewhere_is_left_to_that_one(rig: Rig) -> None:
    rig.ask()
    rig.commit()
    found = rig.pruner.prefetched.pending(
        QueryRequest(sql_of(2000)), FULL_ACCESS, frozenset({CALENDAR}), lambda: False
    )
    assert isinstance(found, PendingSets)
    [wanted] = found.filters
    assert found.collecting.within_s == 0
    began, goes_on = threading.Event(), threading.Event()

    def collect(_note: str) -> DynamicFilteringData:
        began.set()
        goes_on.wait(20)
        return DynamicFilteringData.not_filtering()

    other = threading.Thread(target=rig.cache.obtain, args=(wanted, collect, 20), daemon=True)
    other.start()
    began.wait(20)
    try:
        assert rig.look() == {PrefetchOutcome.ELSEWHERE: 1}
    finally:
        goes_on.set()
        other.join(20)
    # That one may have died instead.
    rig.clock.advance(timedelta(minutes=1))
    assert rig.look() == {PrefetchOutcome.CACHED: 1}
    rig.clock.advance(timedelta(minutes=1))
    assert rig.look() == {}


def test_a_look_leaves_most_of_a_catalog_to_queries() -> None:
    asked: list[int] = []

    class Counting(FakeCatalogs):
        def facts_of(self, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
            asked.append(len(tables))
            return super().facts_of(tables)

    names = [TableName("lake", "shop", f"t{number}") for number in range(20)]
    catalogs = Counting(
        tables=(replace(facts_of_empty_table(name), snapshot_id=1) for name in names if name != names[9])
    )
    watched = WatchedTables(catalogs)
    assert watched.changed(names) == [name for name in names if name != names[9]]
    assert asked == [8, 8, 4]
    assert watched.changed(names) == []


def test_nothing_is_collected_without_an_engine_or_records(rig: Rig) -> None:
    rig.ask()
    rig.is_taking = False
    assert rig.look() == {}
    rig.is_taking, rig.store.is_down = True, True
    assert rig.look() == {}
    rig.store.is_down = False
    rig.clock.advance(timedelta(minutes=1))
    assert rig.look() == {PrefetchOutcome.CACHED: 1}
    # While the store is down, the texts that were read before count.
    rig.store.is_down = True
    rig.commit()
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}


def test_a_catalog_that_is_down_delays_a_look(rig: Rig) -> None:
    rig.ask()
    rig.look()
    rig.commit()
    rig.catalogs.down.add("lake")
    assert rig.look() == {}
    rig.catalogs.down.clear()
    rig.clock.advance(timedelta(seconds=10))
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}


def test_looks_rest_as_long_as_the_last_round_took(rig: Rig) -> None:
    rig.ask()
    rig.look()
    rig.commit()
    rig.use = [PoolUse(2, 2)] * 100
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}
    rig.commit(takes_s=0)
    assert rig.look() == {}
    rig.clock.advance(timedelta(seconds=9))
    assert rig.look() == {}
    rig.clock.advance(timedelta(seconds=1.1))
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}


def test_until_the_next_look_at_all_tables_only_those_are_looked_at_that_this_gateway_commits_to(
    rig: Rig,
) -> None:
    rig.ask()
    rig.look()
    rig.commit(takes_s=2)
    rig.prefetch.committed(SALES)
    assert rig.look() == {}
    rig.prefetch.committed(CALENDAR)
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}
    rig.commit(takes_s=7)
    assert rig.look() == {}
    rig.clock.advance(timedelta(seconds=1))
    assert rig.look() == {PrefetchOutcome.COLLECTED: 1}


def test_a_commit_of_this_gateway_is_looked_at_at_once(rig: Rig) -> None:
    rig.ask()
    rig.look()
    rig.commit()
    rig.prefetch.start()
    try:
        rig.prefetch.committed(SALES)
        rig.prefetch.committed(CALENDAR)
        until(lambda: rig.prefetch.outcomes[PrefetchOutcome.COLLECTED] == 1)
    finally:
        rig.prefetch.close()
