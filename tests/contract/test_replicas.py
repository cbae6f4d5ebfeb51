"""The contract between replicas, checked on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import create_engine, text

from service.adapters.postgres.query_records.metrics_store import PostgresQueryStore
from service.adapters.postgres.query_records.replicas import PostgresReplicas
from service.errors.unavailable import MetricsStoreDown
from service.model.query.history import MAX_SQL_CHARACTERS, QueryListing
from service.model.query.progress import EngineProgress, Phase, QueryProgress, QueuePlace, ScanProgress
from service.model.query.query import QueryRecord, QueryState
from service.model.query.replicas import BegunRequest, OpenQuery, ProgressReport, Replica
from service.ports.stores.query_store import QueryStore
from service.ports.stores.replicas import Replicas, SharedQueries
from tests.contract.test_metrics_store import NOBODY_THERE
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_records import SUBMITTED_AT, full_record
from tests.fakes.replicas import FakeReplicas, MeetingPlace

LOST_AFTER_S = 20.0
RUNS = ProgressReport(
    progress=QueryProgress(
        phase=Phase.RUNNING,
        percent=40,
        counters=EngineProgress(stages_total=2, tasks_completed=4, tasks_total=10, rows=9, bytes=None),
        scans=(ScanProgress("lake.shop.sales", rows=9, data_files=3), ScanProgress(None)),
    )
)
WAITS = ProgressReport(queue=QueuePlace(3, 1800, "global.ann"))


@dataclass(frozen=True)
class Meeting:
    """A store, a factory of replicas that share it, and a way to let time pass for it."""

    store: QueryStore
    replica: Callable[[], SharedQueries]
    pass_time: Callable[[float], None]
    kill: Callable[[SharedQueries], None]


@pytest.fixture(params=["fake", "postgres"])
def meeting(request: pytest.FixtureRequest) -> Iterator[Meeting]:
    if request.param == "fake":
        place = MeetingPlace(FakeMetricsStore())

        def end(replica: SharedQueries) -> None:
            assert isinstance(replica, FakeReplicas)
            place.ended.add(replica.replica.replica_id)

        yield Meeting(place.store, lambda: FakeReplicas(place, named()), place.pass_time, end)
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)

    def pass_time(seconds: float) -> None:
        # Entries are dated back instead, so that no test waits.
        with engine.begin() as connection:
            back = {"seconds": seconds}
            connection.execute(
                text("UPDATE replicas SET last_seen = last_seen - make_interval(secs => :seconds)"), back
            )
            for column in ("told_at", "progress_at", "progress_until"):
                connection.execute(
                    text(f"UPDATE open_queries SET {column} = {column} - make_interval(secs => :seconds)"),
                    back,
                )

    with engine.begin() as connection:
        connection.execute(text("TRUNCATE queries, replicas CASCADE"))
    with ExitStack() as stack:
        stack.callback(engine.dispose)
        store = PostgresQueryStore(url)
        stack.callback(store.close)

        def replica() -> SharedQueries:
            made = PostgresReplicas(url, named())
            stack.callback(made.close)
            return made

        def kill(replica: SharedQueries) -> None:
            assert isinstance(replica, PostgresReplicas)
            # As the kernel does for a process that has ended.
            replica.close()

        yield Meeting(store, replica, pass_time, kill)


def named() -> Replica:
    return Replica(uuid4(), "host")


def running(elapsed_ms: int = 1500) -> OpenQuery:
    """Returns an open query that runs, after it was queued for half a second."""
    record = QueryRecord(
        uuid4(),
        "ann",
        "SELECT 'ü\0'",
        QueryState.RUNNING,
        SUBMITTED_AT,
        catalog="lake",
        schema="shop",
        request_id=uuid4(),
        fingerprint="ab" * 32,
        tags={"dashboard": "ü"},
        queued_ms=500,
    )
    return OpenQuery(record, elapsed_ms)


def id_of(query: OpenQuery) -> UUID:
    return query.record.query_id


def found(replicas: Replicas, query: OpenQuery) -> OpenQuery | None:
    return replicas.find([id_of(query)]).get(id_of(query))


def test_what_is_open_at_one_is_known_to_the_other(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    query = running()
    here.beat([query], (), ())
    seen = found(there, query)
    assert seen is not None
    assert replace(seen.record, sql="") == replace(query.record, sql="")
    assert seen.record.sql.startswith("SELECT 'ü")
    assert there.find([uuid4()]) == {}
    meeting.pass_time(10)
    seen = found(there, query)
    assert seen is not None
    assert 11_500 <= seen.elapsed_ms < 30_000


def test_an_open_query_is_found_by_the_id_that_its_caller_gave_it(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    query, other = running(), running()
    request_id = query.record.request_id
    assert request_id is not None
    here.beat([query, other], (), ())
    seen = there.find_request("ann", request_id)
    assert seen is not None
    assert id_of(seen) == id_of(query)
    assert there.find_request("bob", request_id) is None
    assert there.find_request("ann", uuid4()) is None
    meeting.store.record([replace(query.record, state=QueryState.SUCCEEDED)])
    assert there.find_request("ann", request_id) is None


def changed(**fields: Any) -> OpenQuery:
    """Returns another open query with these fields of its record."""
    query = running()
    return replace(query, record=replace(query.record, **fields))


def test_open_queries_of_the_others_are_listed(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    old = changed(submitted_at=SUBMITTED_AT - timedelta(seconds=1))
    waiting = changed(state=QueryState.QUEUED, sql="SELECT 1" * 1000)
    of_bob = changed(caller="bob", submitted_at=SUBMITTED_AT + timedelta(seconds=1))
    here.beat([old, waiting, of_bob], (), ())

    def listed(caller: str | None, replica: SharedQueries = there, **more: Any) -> list[UUID]:
        return [each.query_id for each in replica.listed(QueryListing(caller, **({"limit": 9} | more)))]

    assert listed("ann") == [id_of(waiting), id_of(old)]
    assert listed(None) == [id_of(of_bob), id_of(waiting), id_of(old)]
    assert listed(None, limit=1) == [id_of(of_bob)]
    assert listed(None, state=QueryState.QUEUED) == [id_of(waiting)]
    [shown] = there.listed(QueryListing("ann", 9, QueryState.QUEUED))
    assert (len(shown.sql), shown.caller, shown.elapsed_ms >= 1500) == (MAX_SQL_CHARACTERS, "ann", True)
    assert listed(None, before=shown.position) == [id_of(old)]
    assert listed(None, here) == []
    meeting.store.record([replace(old.record, state=QueryState.SUCCEEDED)])
    assert listed("ann") == [id_of(waiting)]


def same_request(query: OpenQuery, **changed: Any) -> OpenQuery:
    """Returns another query that was sent under the same requestId."""
    return replace(query, record=replace(query.record, query_id=uuid4(), **changed))


def test_a_request_is_begun_once(meeting: Meeting) -> None:
    here, there, query = meeting.replica(), meeting.replica(), running()
    begun = BegunRequest(id_of(query), query.record.fingerprint)
    assert here.claim(query) is None
    assert found(there, query) is not None
    assert there.claim(same_request(query)) == begun
    assert here.claim(same_request(query, fingerprint="cd" * 32)) == begun
    assert there.claim(same_request(query, caller="bob")) is None
    assert there.claim(same_request(query, request_id=uuid4())) is None
    meeting.store.record([replace(query.record, state=QueryState.SUCCEEDED)])
    assert there.claim(same_request(query)) == begun
    # A claim that was given up leaves the request to others.
    other = running()
    assert here.claim(other) is None
    here.beat((), (), [id_of(other)])
    assert there.claim(same_request(other)) is None


def test_of_many_that_claim_a_request_one_begins_it(meeting: Meeting) -> None:
    replicas = [meeting.replica() for _ in range(4)]
    first = running()
    queries = [same_request(first) for _ in replicas]
    with ThreadPoolExecutor(len(replicas)) as threads:
        claims = list(threads.map(lambda at: replicas[at].claim(queries[at]), range(len(replicas))))
    [winner] = [query for query, claim in zip(queries, claims, strict=True) if claim is None]
    assert {claim.query_id for claim in claims if claim is not None} == {id_of(winner)}


def test_a_request_of_a_process_that_has_ended_is_free_at_once(meeting: Meeting) -> None:
    here, there, query = meeting.replica(), meeting.replica(), running()
    assert here.claim(query) is None
    meeting.kill(here)
    assert there.claim(same_request(query)) is None
    meeting.pass_time(LOST_AFTER_S + 1)
    there.beat((), (), ())
    assert there.take_lost(LOST_AFTER_S) == [id_of(query)]


def test_all_requests_of_a_process_that_has_ended_are_free_at_once(meeting: Meeting) -> None:
    here, replicas = meeting.replica(), [meeting.replica() for _ in range(4)]
    queries = [running() for _ in range(100)]
    here.beat(queries, (), ())
    meeting.kill(here)

    def claimed(at: int) -> BegunRequest | None:
        return replicas[at % len(replicas)].claim(same_request(queries[at]))

    with ThreadPoolExecutor(2 * len(replicas)) as threads:
        assert set(threads.map(claimed, range(len(queries)))) == {None}


def test_a_state_that_changed_is_reported_again(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    query = running()
    here.beat([replace(query, record=replace(query.record, state=QueryState.QUEUED, queued_ms=0))], (), ())
    here.beat([query], [id_of(query)], ())
    seen = found(there, query)
    assert seen is not None
    assert (seen.record.state, seen.record.queued_ms) == (QueryState.RUNNING, 500)


def report_of(replicas: Replicas, query: OpenQuery) -> ProgressReport | None:
    seen = found(replicas, query)
    return None if seen is None else seen.report


def test_the_others_see_how_far_a_query_is_for_as_long_as_its_report_counts(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    runs, waits, silent = running(), changed(state=QueryState.QUEUED), running()
    here.beat([runs, waits, silent], (), ())
    assert report_of(there, runs) is None
    here.report_progress({id_of(runs): ProgressReport(), id_of(waits): WAITS}, 9)
    here.report_progress({id_of(runs): RUNS}, 9)
    assert (report_of(there, runs), report_of(there, waits)) == (RUNS, WAITS)
    assert report_of(there, silent) is None
    shown = {each.query_id: each.queue for each in there.listed(QueryListing("ann", 9))}
    assert shown == {id_of(runs): None, id_of(waits): WAITS.queue, id_of(silent): None}
    # Another state does not take the report away.
    here.beat([runs], [id_of(runs)], ())
    assert report_of(there, runs) == RUNS
    meeting.pass_time(10)
    assert report_of(there, runs) is None
    assert [each.queue for each in there.listed(QueryListing("ann", 9))] == [None, None, None]
    here.report_progress({id_of(runs): RUNS}, 9)
    assert report_of(there, runs) == RUNS
    meeting.pass_time(-60)
    assert report_of(there, runs) is None


def test_a_replica_reports_only_queries_that_are_open_there(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    query = running()
    here.beat([query], (), ())
    there.beat([], (), ())
    there.report_progress({id_of(query): RUNS, uuid4(): RUNS}, 9)
    assert report_of(here, query) is None


def test_a_report_may_hold_any_text(meeting: Meeting) -> None:
    here, there, query = meeting.replica(), meeting.replica(), changed(state=QueryState.QUEUED)
    here.beat([query], (), ())
    here.report_progress({id_of(query): ProgressReport(QueuePlace(1, None, "ü\0\ud800"))}, 9)
    seen = found(there, query)
    assert seen is not None
    assert seen.queue is not None
    assert seen.queue.group.startswith("ü")


def test_what_has_left_its_record_is_open_no_more(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    recorded, dropped = running(), running()
    here.beat([recorded, dropped], (), ())
    meeting.store.record([replace(recorded.record, state=QueryState.SUCCEEDED)])
    assert found(there, recorded) is None
    # The journal discarded this query's record, so the replica closes the query.
    here.beat((), [id_of(dropped)], [id_of(dropped)])
    assert found(there, dropped) is None


def test_the_queries_of_a_silent_replica_are_lost_once(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    query = running()
    here.beat([query], (), ())
    there.beat((), (), ())
    assert there.take_lost(LOST_AFTER_S) == []
    meeting.pass_time(LOST_AFTER_S + 1)
    there.beat((), (), ())
    assert there.take_lost(LOST_AFTER_S) == [id_of(query)]
    assert there.take_lost(LOST_AFTER_S) == []
    assert found(there, query) is None
    record = meeting.store.find(id_of(query))
    assert record is not None
    assert record.error is not None
    assert (record.state, record.error.code) == (QueryState.FAILED, "REPLICA_LOST")
    assert (record.caller, record.tags, record.submitted_at) == ("ann", {"dashboard": "ü"}, SUBMITTED_AT)


def test_the_request_id_of_a_lost_query_is_free_again(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    query = running()
    request_id = query.record.request_id
    assert request_id is not None
    here.beat([query], (), ())
    again = replace(full_record(), request_id=request_id)
    meeting.store.record([again])
    meeting.pass_time(LOST_AFTER_S + 1)
    assert there.take_lost(LOST_AFTER_S) == [id_of(query)]
    assert meeting.store.find_request("ann", request_id) == again


def test_one_that_was_seen_in_the_future_is_lost_too(meeting: Meeting) -> None:
    here, there, query = meeting.replica(), meeting.replica(), running()
    here.beat([query], (), ())
    meeting.pass_time(-3600)
    there.beat((), (), ())
    assert list(there.take_lost(LOST_AFTER_S)) == [id_of(query)]


def test_a_beat_tells_the_moment_of_the_store(meeting: Meeting) -> None:
    replica = meeting.replica()
    first = replica.beat((), (), ()).at_ms
    assert 0 < first <= replica.beat((), (), ()).at_ms


def test_a_beat_tells_whether_there_are_others(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    assert not here.beat([], (), ()).has_others
    assert there.beat([], (), ()).has_others
    assert here.beat([], (), ()).has_others
    there.leave()
    assert not here.beat([], (), ()).has_others
    there.beat([], (), ())
    meeting.pass_time(301)
    assert not here.beat([], (), ()).has_others


def test_whoever_beats_is_not_lost(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    query = running()
    here.beat([query], (), ())
    for _ in range(3):
        meeting.pass_time(LOST_AFTER_S - 1)
        here.beat((), [id_of(query)], ())
        assert there.take_lost(LOST_AFTER_S) == []
    assert found(there, query) is not None


def test_a_replica_that_comes_back_hears_what_was_decided(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    lost, new = running(), running()
    here.beat([lost], (), ())
    meeting.pass_time(LOST_AFTER_S + 1)
    there.take_lost(LOST_AFTER_S)
    # The query still runs and its state has changed, but the reported loss is final.
    decided = here.beat([lost, new], [id_of(lost)], ())
    assert decided.lost == {id_of(lost)}
    assert found(there, lost) is None
    assert found(there, new) is not None
    assert there.take_lost(LOST_AFTER_S) == []
    # The query's own record comes too late.
    meeting.store.record([replace(lost.record, state=QueryState.SUCCEEDED)])
    record = meeting.store.find(id_of(lost))
    assert record is not None
    assert record.state is QueryState.FAILED


def test_many_who_look_at_once_take_each_query_once(meeting: Meeting) -> None:
    here = meeting.replica()
    queries = [running() for _ in range(20)]
    here.beat(queries, (), ())
    meeting.pass_time(LOST_AFTER_S + 1)
    others = [meeting.replica() for _ in range(4)]
    with ThreadPoolExecutor(len(others)) as threads:
        taken = list(threads.map(lambda other: other.take_lost(LOST_AFTER_S), others))
    assert sorted(query_id for query_ids in taken for query_id in query_ids) == sorted(map(id_of, queries))


def test_a_wish_to_cancel_reaches_the_replica_that_runs_it(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    query, other = running(), running()
    here.beat([query, other], (), ())
    there.ask_to_cancel(id_of(query))
    there.ask_to_cancel(uuid4())
    assert here.canceled() == {id_of(query)}
    assert there.canceled() == frozenset()
    assert there.beat([running()], (), ()).canceled == frozenset()
    assert here.beat((), [id_of(query), id_of(other)], ()).canceled == {id_of(query)}


def test_who_leaves_leaves_nothing_open_for_long(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    query = running()
    here.beat([query], (), ())
    here.leave()
    assert there.take_lost(LOST_AFTER_S) == [id_of(query)]
    there.leave()


def test_replicas_are_listed_with_what_is_open_there(meeting: Meeting) -> None:
    here, there = meeting.replica(), meeting.replica()
    assert here.seen(10) == []
    here.beat([running(), running()], (), ())
    meeting.pass_time(60)
    there.beat([running()], (), ())
    first, second = here.seen(10)
    assert [(first.open_queries, first.is_this_one), (second.open_queries, second.is_this_one)] == [
        (1, False),
        (2, True),
    ]
    assert (first.replica.name, first.replica.replica_id != second.replica.replica_id) == ("host", True)
    assert first.silent_ms is not None
    assert second.silent_ms is not None
    assert first.silent_ms < 30_000
    assert 60_000 <= second.silent_ms < 90_000
    assert [each.replica for each in here.seen(1)] == [first.replica]
    # One that ends while queries are open there is known until these are lost.
    there.leave()
    last = here.seen(10)[-1]
    assert (last.replica, last.silent_ms, last.open_queries) == (first.replica, None, 1)
    here.beat((), (), [])
    assert here.seen(10)[0].is_this_one


def test_a_replica_seen_in_the_future_is_as_silent_as_one_seen_in_the_past(meeting: Meeting) -> None:
    replica = meeting.replica()
    replica.beat((), (), ())
    meeting.pass_time(-60)
    [seen] = replica.seen(10)
    assert seen.silent_ms is not None
    assert 30_000 <= seen.silent_ms <= 60_000


def test_a_store_that_is_down_is_named() -> None:
    replicas = PostgresReplicas(NOBODY_THERE, named())
    try:
        asks: list[Callable[[], object]] = [
            lambda: replicas.beat((), (), ()),
            lambda: replicas.take_lost(LOST_AFTER_S),
            lambda: replicas.find([uuid4()]),
            lambda: replicas.ask_to_cancel(uuid4()),
            lambda: replicas.claim(running()),
            lambda: replicas.listed(QueryListing(None, 1)),
            lambda: replicas.report_progress({uuid4(): RUNS}, 9),
            replicas.canceled,
            replicas.leave,
        ]
        for ask in asks:
            with pytest.raises(MetricsStoreDown) as caught:
                ask()
            assert "127.0.0.1" not in caught.value.detail
    finally:
        replicas.close()


def test_a_report_waits_for_nobody_who_writes_the_query(metrics_url: str) -> None:
    here, query, engine = PostgresReplicas(metrics_url, named()), running(), create_engine(metrics_url)
    try:
        here.beat([query], (), ())
        with engine.begin() as connection:
            connection.execute(
                text("SELECT FROM open_queries WHERE query_id = :id FOR UPDATE"), {"id": id_of(query)}
            )
            here.report_progress({id_of(query): RUNS}, 9)
        assert report_of(here, query) is None
        with engine.begin() as connection:
            connection.execute(text("UPDATE open_queries SET progress = '{\"queue\": 7}'"))
            connection.execute(text("UPDATE open_queries SET progress_at = now()"))
            connection.execute(text("UPDATE open_queries SET progress_until = now() + interval '9 s'"))
        # Another version may write another form.
        assert report_of(here, query) is None
    finally:
        here.close()
        engine.dispose()
