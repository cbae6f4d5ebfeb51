"""The query book: lookup by id, the bound on waiting queries, and retention."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from service.errors.query_errors import QueryCanceled, QueryFailed, RequestIdReused, TooManyQueries
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import QueryRecord, QueryRequest
from service.query.execution.run_query import run_query
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_registry import QueryRegistry
from tests.unit.query.conftest import Bench


def test_a_query_is_found_by_its_id(bench: Bench) -> None:
    query = bench.query()
    assert bench.book.find(query.query_id) is query
    assert bench.book.find(uuid4()) is None


def test_the_same_request_id_gives_the_same_query_even_when_it_has_ended(bench: Bench) -> None:
    request_id = uuid4()
    first = bench.query(request_id=request_id)
    first.cancel(QueryCanceled(), 0)
    assert bench.query(request_id=request_id) is first


def test_a_request_id_belongs_to_its_caller(bench: Bench) -> None:
    request_id = uuid4()
    assert bench.query("SELECT 1", "ann", request_id) is not bench.query("SELECT 2", "bob", request_id)


def test_a_request_id_with_another_body_is_refused_and_leaves_the_first_as_it_was(bench: Bench) -> None:
    request_id = uuid4()
    first = bench.query("SELECT 1", request_id=request_id)
    with pytest.raises(RequestIdReused):
        bench.query("SELECT 2", request_id=request_id)
    assert bench.book.open() == [first]


def test_queries_without_a_request_id_are_never_the_same(bench: Bench) -> None:
    assert bench.query() is not bench.query()


def test_a_query_without_a_place_is_not_added(bench: Bench) -> None:
    def refuse(_: QueryHandle) -> None:
        raise TooManyQueries

    query = bench.query()
    bench.book = QueryRegistry(retention_ms=1)
    with pytest.raises(TooManyQueries):
        bench.book.add(query, refuse)
    assert bench.book.open() == []
    assert bench.book.find(query.query_id) is None


def test_a_known_request_id_is_answered_even_when_there_is_no_place(bench: Bench) -> None:
    def refuse(_: QueryHandle) -> None:
        raise TooManyQueries

    request_id = uuid4()
    first, again = bench.query(request_id=request_id), bench.unregistered(request_id=request_id)
    assert bench.book.add(again, refuse) is first


def test_open_ones_come_oldest_first_and_ended_ones_not_at_all(bench: Bench) -> None:
    first, second, third = bench.query(), bench.query(), bench.query()
    second.cancel(QueryCanceled(), 0)
    first.start(0)
    assert bench.book.open() == [first, third]


def test_ended_queries_are_forgotten_when_their_time_is_over_and_open_ones_never(bench: Bench) -> None:
    request_id = uuid4()
    ended, waiting = bench.query(request_id=request_id), bench.query()
    ended.cancel(QueryCanceled(), 1000)
    assert bench.book.forget_ended(61_000) == []
    assert bench.book.forget_ended(61_001) == [ended.query_id]
    assert bench.book.find(ended.query_id) is None
    assert bench.book.find(waiting.query_id) is waiting
    assert bench.query("SELECT 2", request_id=request_id) is not ended


def test_the_oldest_of_too_many_without_a_result_are_forgotten_before_their_time(bench: Bench) -> None:
    bench.book = QueryRegistry(retention_ms=60_000, max_ended=2)
    queries = [bench.query() for _ in range(4)]
    open_query = bench.query()
    for query in queries:
        query.start(0)
        query.fail(QueryFailed(), 0)
    assert bench.book.forget_ended(0) == [query.query_id for query in queries[:2]]
    assert bench.book.open() == [open_query]


def test_what_has_a_result_is_retained_for_its_whole_time_however_many_there_are(bench: Bench) -> None:
    bench.book = QueryRegistry(retention_ms=60_000, max_ended=0)
    queries = [bench.query() for _ in range(3)]
    for query in queries:
        run_query(query, bench.ports)
    assert bench.book.forget_ended(60_000) == []
    assert bench.book.forget_ended(60_001) == [query.query_id for query in queries]


def test_a_result_that_made_room_for_others_does_not_hold_its_query(bench: Bench) -> None:
    bench.book = QueryRegistry(retention_ms=60_000, max_ended=0)
    first, second = bench.query(), bench.query()
    for query in (first, second):
        run_query(query, bench.ports)
    bench.book.lose_result(first)
    assert first.status(0).manifest is None
    assert bench.book.forget_ended(0) == [first.query_id]
    bench.book.lose_result(first)
    assert bench.book.find(first.query_id) is None


class CountedQuery(QueryHandle):
    """Counts the reads of its state."""

    looks = 0

    @property
    def record(self) -> QueryRecord:
        self.looks += 1
        return super().record

    @property
    def ended_ms(self) -> int | None:
        self.looks += 1
        return super().ended_ms


def test_those_that_have_ended_cost_nothing_but_their_place(bench: Bench) -> None:
    now = bench.clock.now()
    ended = [CountedQuery(uuid4(), QueryRequest("SELECT 1"), "ann", FULL_ACCESS, now, 0) for _ in range(20)]
    for query in ended:
        bench.book.add(query)
        query.cancel(QueryCanceled(), 0)
    for query in ended:
        query.looks = 0
    bench.query()
    bench.book.open()
    bench.book.forget_ended(0)
    assert sum(query.looks for query in ended) <= 2


def test_a_query_that_was_sent_before_is_found_without_taking_another_in(bench: Bench) -> None:
    request_id = uuid4()
    first = bench.query("SELECT 1", request_id=request_id)
    again, other = (
        QueryHandle(uuid4(), replace(first.request, sql=sql), "ann", FULL_ACCESS, bench.clock.now(), 0)
        for sql in ("SELECT 1", "SELECT 2")
    )
    assert bench.book.sent_before(again) is first
    with pytest.raises(RequestIdReused):
        bench.book.sent_before(other)
    assert bench.book.open() == [first]


def test_a_deadline_counts_from_the_moment_of_submission(bench: Bench) -> None:
    bench.clock.advance(timedelta(seconds=3))
    assert bench.query(timeout_ms=5000).deadline_ms == 8000
