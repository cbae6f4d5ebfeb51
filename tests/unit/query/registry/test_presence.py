"""Tests how a replica reports its queries and takes lost ones, beat by beat and without its thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from service.errors.query_errors import QueryEnded
from service.model.query.progress import EngineProgress, Phase, QueuePlace, ScanProgress
from service.model.query.query import QueryState
from service.model.query.replicas import OpenQuery, ProgressReport, Replica
from service.query.execution.run_query import run_query
from service.query.registry.presence import LONG_MS, REST_MS, Presence, PresenceBounds
from service.query.registry.progress_of import report_of
from service.query.registry.progress_reports import MOST_REPORTED, MOST_SCANS, ProgressReports
from service.query.registry.query_handle import QueryHandle
from service.query.registry.recorded import record
from tests.fakes.clock import FakeClock
from tests.fakes.journal import FakeJournal
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.replicas import FakeReplicas, MeetingPlace
from tests.fakes.running_queries import FakeRunningQueries
from tests.polling import until
from tests.unit.query.conftest import Bench

BOUNDS = PresenceBounds(interval_s=3, lost_after_s=20)
WAITS = QueuePlace(3, 1800, "global.ann")


@dataclass
class Here:
    """One replica: its bench, and the ids that its presence asked to forget."""

    place: MeetingPlace
    clock: FakeClock
    forgotten: list[UUID] = field(default_factory=list)
    running: FakeRunningQueries = field(default_factory=FakeRunningQueries)
    look_s: float = 0

    def __post_init__(self) -> None:
        self.bench = Bench(clock=self.clock, journal=FakeJournal(self.place.store))
        self.replicas = FakeReplicas(self.place, Replica(uuid4(), "host"))
        self.presence = Presence(
            self.replicas,
            self.bench.book,
            self.bench.journal,
            self.clock,
            self.end,
            self.forgotten.append,
            BOUNDS,
            ProgressReports(self.replicas, self.report_of, self.clock, BOUNDS.report_valid_s),
        )

    def report_of(self, query: QueryHandle) -> ProgressReport:
        """Reports its queue or its progress; every look at it takes as long as `look_s`."""
        self.clock.advance(timedelta(seconds=self.look_s))
        return report_of(query, lambda _: WAITS, self.running)

    def end(self, query: QueryHandle, reason: QueryEnded) -> None:
        """Cancels a query as workers do: one that waits ends at once."""
        if query.cancel(reason, self.clock.elapsed_ms()):
            record(query, self.bench.journal)

    def state(self, query_id: UUID) -> QueryState | None:
        """Returns a query's state as this replica sees it, wherever the query is open."""
        found = self.presence.find(query_id)
        return None if found is None else found.record.state


@dataclass
class Both:
    here: Here
    there: Here
    place: MeetingPlace

    def pass_time(self, seconds: float, *beating: Here) -> None:
        """Advances the clock in steps of beats; only the given replicas beat."""
        left = seconds
        while left > 0:
            step = min(left, BOUNDS.interval_s)
            left -= step
            self.place.clock.advance(timedelta(seconds=step))
            for replica in beating:
                replica.presence.beat()

    def seen_there(self, query: QueryHandle) -> OpenQuery:
        found = self.there.presence.find(query.query_id)
        assert found is not None
        return found

    def record_code(self, query_id: UUID) -> str | None:
        found = self.place.store.find(query_id)
        return found.error.code if found and found.error else None


@pytest.fixture
def both() -> Both:
    clock = FakeClock()
    place = MeetingPlace(FakeMetricsStore(), clock)
    return Both(Here(place, clock), Here(place, clock), place)


def test_an_id_that_was_given_to_a_caller_is_known_everywhere_at_once(both: Both) -> None:
    query = both.here.bench.query()
    assert both.there.state(query.query_id) is None
    both.here.presence.announce(query)
    both.here.presence.announce(query)
    assert both.there.state(query.query_id) is QueryState.QUEUED
    assert both.here.replicas.beats == 1


def test_a_short_query_costs_nothing_and_a_long_one_is_reported_with_each_state(both: Both) -> None:
    query = both.here.bench.query()
    both.here.presence.beat()
    assert both.there.state(query.query_id) is None
    both.pass_time(LONG_MS / 1000, both.here)
    assert both.there.state(query.query_id) is QueryState.QUEUED
    query.start(both.here.clock.elapsed_ms())
    both.pass_time(1, both.here)
    assert both.there.state(query.query_id) is QueryState.RUNNING
    run_query(other := both.here.bench.query(), both.here.bench.ports)
    both.here.presence.announce(other)
    assert both.there.state(other.query_id) is None


def test_the_others_see_where_a_query_waits_and_how_far_it_is(both: Both) -> None:
    both.pass_time(1, both.there, both.here)
    query = both.here.bench.query()
    both.here.presence.announce(query)
    both.pass_time(LONG_MS / 1000, both.here)
    found = both.seen_there(query)
    assert (found.queue, found.progress) == (WAITS, None)
    query.start(both.here.clock.elapsed_ms())
    query.progress.enter(Phase.RUNNING)
    both.here.running.counters[query.query_id] = EngineProgress(tasks_completed=1, tasks_total=4)
    both.pass_time(BOUNDS.interval_s, both.here)
    found = both.seen_there(query)
    assert found.progress is not None
    assert (found.queue, found.progress.percent) == (None, 25)
    # Its replica does not report any more: the number would be old.
    both.pass_time(BOUNDS.report_valid_s + 1, both.there)
    assert both.seen_there(query).progress is None


def test_nothing_is_reported_of_young_queries_or_without_others(both: Both) -> None:
    both.pass_time(1, both.here)
    both.here.presence.announce(both.here.bench.query())
    both.pass_time(BOUNDS.interval_s, both.here)
    assert both.here.replicas.reports == []
    both.pass_time(BOUNDS.interval_s, both.there, both.here)
    assert len(both.here.replicas.reports) == 1
    young = both.here.bench.query()
    both.here.presence.announce(young)
    both.here.presence.beat()
    assert young.query_id not in both.here.replicas.reports[-1]


def test_reports_are_bounded_and_those_that_run_come_first(both: Both) -> None:
    both.pass_time(1, both.there, both.here)
    queries = [both.here.bench.query() for _ in range(MOST_REPORTED + 1)]
    last = queries[-1]
    for query in queries:
        both.here.presence.announce(query)
    last.start(both.here.clock.elapsed_ms())
    last.progress.enter(Phase.RUNNING)
    scans = (ScanProgress("lake.shop.sales"),) * (MOST_SCANS + 1)
    both.here.running.counters[last.query_id] = EngineProgress(rows=7, scans=scans)
    both.pass_time(BOUNDS.interval_s, both.here)
    [reports] = both.here.replicas.reports
    assert len(reports) == MOST_REPORTED
    progress = reports[last.query_id].progress
    assert progress is not None
    assert progress.counters is not None
    assert (progress.counters.rows, progress.scans) == (7, ())


def test_slow_reports_do_not_hold_up_the_next_beat(both: Both) -> None:
    both.pass_time(1, both.there, both.here)
    for _ in range(10):
        both.here.presence.announce(both.here.bench.query())
    both.here.look_s = 0.2
    both.pass_time(BOUNDS.interval_s, both.here)
    [reports] = both.here.replicas.reports
    assert len(reports) == 3


def test_a_report_that_cannot_be_written_changes_nothing_else(both: Both) -> None:
    both.pass_time(1, both.there, both.here)
    query = both.here.bench.query()
    both.here.presence.announce(query)

    def fail(_: QueryHandle) -> ProgressReport:
        both.place.store.is_down = True
        return ProgressReport(WAITS)

    both.pass_time(LONG_MS / 1000)
    ProgressReports(both.here.replicas, fail, both.here.clock, 9).send([query])
    both.place.store.is_down = False
    assert both.seen_there(query).queue is None


def test_a_replica_that_is_gone_loses_its_queries_within_the_bound(both: Both) -> None:
    both.pass_time(30, both.here, both.there)
    query = both.here.bench.query()
    both.here.presence.announce(query)
    both.pass_time(18, both.there)
    assert both.record_code(query.query_id) is None
    both.pass_time(BOUNDS.interval_s + 3, both.there)
    assert both.record_code(query.query_id) == "REPLICA_LOST"


def test_one_that_was_paused_gives_up_what_others_hold_for_lost(both: Both) -> None:
    both.pass_time(30, both.here, both.there)
    waiting, ended, unheard = (both.here.bench.query() for _ in range(3))
    for handle in (waiting, ended):
        both.here.presence.announce(handle)
    both.pass_time(30, both.there)
    # The replica wakes, and one query ends before anything else happens.
    run_query(ended, both.here.bench.ports)
    assert ended.record.state is QueryState.SUCCEEDED
    both.here.presence.beat()
    assert waiting.record.error is not None
    assert (waiting.record.state, waiting.record.error.code) == (QueryState.FAILED, "REPLICA_LOST")
    assert set(both.here.forgotten) == {waiting.query_id, ended.query_id}
    assert both.record_code(ended.query_id) == "REPLICA_LOST"
    # This query was never reported, so it continues.
    assert unheard.record.state is QueryState.QUEUED
    both.here.presence.beat()
    assert len(both.here.forgotten) == 2


@pytest.mark.parametrize("by", [timedelta(hours=1), timedelta(hours=-1)])
def test_nobody_is_lost_for_a_jump_of_the_stores_clock_and_who_is_gone_is_lost_all_the_same(
    both: Both, by: timedelta
) -> None:
    both.pass_time(30, both.here, both.there)
    query = both.here.bench.query()
    both.here.presence.announce(query)
    both.place.clock.jump(by)
    # The live replica looks before the other one beats again.
    both.pass_time(BOUNDS.interval_s, both.there)
    assert both.there.state(query.query_id) is QueryState.QUEUED
    both.pass_time(30, both.there, both.here)
    assert both.record_code(query.query_id) is None
    both.place.clock.jump(by)
    both.pass_time(2 * BOUNDS.lost_after_s + BOUNDS.interval_s, both.there)
    assert both.record_code(query.query_id) == "REPLICA_LOST"


def test_nobody_is_lost_for_an_outage_of_the_store(both: Both) -> None:
    both.pass_time(30, both.here, both.there)
    query = both.here.bench.query()
    both.here.presence.announce(query)
    both.place.store.is_down = True
    both.pass_time(60, both.here, both.there)
    both.place.store.is_down = False
    # The replica `there` beats first, and `here` some seconds later.
    both.pass_time(15, both.there)
    assert both.record_code(query.query_id) is None
    both.pass_time(30, both.here, both.there)
    assert both.record_code(query.query_id) is None
    assert both.there.state(query.query_id) is QueryState.QUEUED


def test_one_that_has_just_started_looks_on_first(both: Both) -> None:
    query = both.here.bench.query()
    both.here.presence.announce(query)
    both.pass_time(60)
    both.pass_time(18, both.there)
    assert both.record_code(query.query_id) is None
    both.pass_time(6, both.there)
    assert both.record_code(query.query_id) == "REPLICA_LOST"


def test_a_store_that_is_down_is_asked_now_and_then_only(both: Both) -> None:
    query = both.here.bench.query()
    both.place.store.is_down = True
    both.here.presence.announce(query)
    both.place.store.is_down = False
    both.here.presence.announce(query)
    assert both.there.state(query.query_id) is None
    both.pass_time(REST_MS / 1000)
    both.here.presence.announce(query)
    assert both.there.state(query.query_id) is QueryState.QUEUED


def test_whoever_waits_elsewhere_hears_of_the_end(both: Both) -> None:
    query = both.here.bench.query()
    both.here.presence.announce(query)
    watched = both.there.presence.watch(query.query_id)
    assert both.there.presence.watch(query.query_id) is watched
    both.there.presence._watched.look()
    assert not watched.done()
    both.place.store.is_down = True
    both.there.presence._watched.look()
    assert not watched.done()
    both.place.store.is_down = False
    run_query(query, both.here.bench.ports)
    both.there.presence._watched.look()
    assert watched.done()


def test_who_waits_at_a_replica_that_ends_is_let_go(both: Both) -> None:
    query = both.here.bench.query()
    both.here.presence.announce(query)
    watched = both.there.presence.watch(query.query_id)
    both.there.presence.stop_watching()
    assert watched.done()
    assert both.there.presence.watch(query.query_id).done()
    both.there.presence._watched.look()


def test_a_cancellation_reaches_the_replica_that_runs_it(both: Both) -> None:
    query = both.here.bench.query()
    both.here.presence.announce(query)
    both.there.presence.ask_to_cancel(query.query_id)
    both.here.presence.beat()
    assert query.record.state is QueryState.CANCELED
    assert both.there.state(query.query_id) is None


def test_a_cancellation_does_not_wait_for_the_next_beat(both: Both) -> None:
    both.pass_time(1, both.there, both.here)
    query, other = both.here.bench.query(), both.here.bench.query()
    both.here.presence.announce(query)
    both.here.presence.announce(other)
    both.there.presence.ask_to_cancel(query.query_id)
    both.here.presence.look()
    assert (query.record.state, other.record.state) == (QueryState.CANCELED, QueryState.QUEUED)


def test_a_claim_that_was_canceled_elsewhere_may_be_given_up(both: Both) -> None:
    both.pass_time(1, both.there, both.here)
    query = both.here.bench.query()
    assert both.here.presence.claim(query) is None
    both.there.presence.ask_to_cancel(query.query_id)
    both.here.presence.look()
    both.here.presence.give_up(query)
    assert both.place.rows == {}


def test_whoever_has_no_open_query_or_no_others_asks_for_no_cancellation(both: Both) -> None:
    both.pass_time(1, both.here)
    both.here.presence.announce(both.here.bench.query())
    both.here.presence.look()
    both.pass_time(1, both.there, both.here)
    both.there.presence.look()
    assert (both.here.replicas.looks, both.there.replicas.looks) == (0, 0)
    both.place.store.is_down = True
    both.here.presence.look()
    both.place.store.is_down = False
    both.here.presence.look()
    assert both.here.replicas.looks == 1


def test_a_thread_that_beats_rarely_looks_for_cancellations_often(both: Both) -> None:
    both.pass_time(1, both.there, both.here)
    both.here.presence.start()
    try:
        # Its clock stands still, so that no beat follows the first one.
        until(lambda: both.here.replicas.beats > 1)
        query = both.here.bench.query()
        both.here.presence.announce(query)
        both.there.presence.ask_to_cancel(query.query_id)
        until(lambda: query.record.state is QueryState.CANCELED, within_s=2)
    finally:
        both.here.presence.close()


def test_a_query_without_a_record_is_open_no_more_than_its_replica_says(both: Both) -> None:
    query = both.here.bench.query()
    both.here.presence.announce(query)
    both.place.store.refused.add(query.query_id)
    query.recorded.set_result(None)
    both.here.presence.beat()
    assert both.there.state(query.query_id) is None


def test_who_leaves_says_so(both: Both) -> None:
    both.pass_time(30, both.here, both.there)
    query = both.here.bench.query()
    both.here.presence.announce(query)
    both.here.presence.close()
    both.pass_time(1, both.there)
    assert both.record_code(query.query_id) == "REPLICA_LOST"
