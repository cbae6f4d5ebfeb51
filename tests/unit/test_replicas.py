"""Two gateways over one store: each of them knows the state of every query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from uuid import uuid4

import pytest

from service.errors.query_errors import QueryNotFound, ResultExpired
from service.errors.unavailable import ShuttingDown
from service.model.query.query import QueryState
from service.model.query.replicas import Replica
from service.query.registry.intake import STIRRED_MS
from service.query.registry.presence import PresenceBounds
from tests.fakes.engine import FakeEngine
from tests.fakes.replicas import FakeReplicas, MeetingPlace
from tests.unit.test_gateway import PATIENCE_S, CountingStore, House

EAGER = PresenceBounds(interval_s=0.02, lost_after_s=20)


@pytest.fixture
def both() -> Iterator[tuple[House, House]]:
    store = CountingStore()
    place = MeetingPlace(store)
    with ExitStack() as stack:

        def build() -> House:
            replicas = FakeReplicas(place, Replica(uuid4(), "host"))
            house = House(FakeEngine(), store=store, replicas=replicas, presence=EAGER)
            stack.callback(house.gateway.close)
            stack.callback(house.engine.release)
            return house

        yield build(), build()


def test_any_replica_answers_for_a_query_that_is_open(both: tuple[House, House]) -> None:
    here, there = both
    with here.engine.paused():
        query_id = here.submit()
        here.engine.wait_for_runs(1)
        with pytest.raises(QueryNotFound):
            there.status(query_id)
        assert here.state(query_id) is QueryState.RUNNING
        assert there.state(query_id) is QueryState.RUNNING
        assert there.gateway.queries.explainer.explain(query_id, "ann").state is QueryState.RUNNING
        with pytest.raises(QueryNotFound):
            there.gateway.queries.status(query_id, "bob")
        ended = there.gateway.queries.finished(query_id)
        assert not ended.done()
    ended.result(PATIENCE_S)
    assert there.state(query_id) is QueryState.SUCCEEDED
    # Only the replica that ran the query has its rows.
    with pytest.raises(ResultExpired):
        there.gateway.queries.results.chunk(query_id, 0, "ann")
    assert here.gateway.queries.results.chunk(query_id, 0, "ann").rows.num_rows


def test_only_the_replica_of_a_query_knows_its_place_in_the_queue(both: tuple[House, House]) -> None:
    here, there = both
    with here.engine.paused():
        running = here.submit()
        here.engine.wait_for_runs(1)
        waiting = here.submit()
        status = here.status(waiting)
        assert (status.record.state, status.queue is not None) == (QueryState.QUEUED, True)
        assert (there.state(waiting), there.status(waiting).queue) == (QueryState.QUEUED, None)
        places = here.gateway.queries.overview.places([running, waiting, uuid4()])
        assert dict(places) == {waiting: status.queue}
        assert not there.gateway.queries.overview.places([waiting])
    for query_id in (running, waiting):
        here.ended(query_id)


def test_any_replica_cancels(both: tuple[House, House]) -> None:
    here, there = both
    with here.engine.paused():
        query_id = here.submit()
        here.engine.wait_for_runs(1)
        here.status(query_id)
        there.gateway.queries.cancel(query_id, "ann")
        here.clock.advance(timedelta(seconds=1))
        here.gateway.queries.finished(query_id).result(PATIENCE_S)
    assert here.state(query_id) is QueryState.CANCELED
    there.gateway.queries.cancel(query_id, "ann")


def test_any_replica_finds_a_query_by_the_id_that_its_caller_gave_it(both: tuple[House, House]) -> None:
    here, there = both
    request_id = uuid4()
    with here.engine.paused():
        query_id = here.submit(request_id=request_id)
        here.engine.wait_for_runs(1)
        assert here.gateway.queries.known.sent_as(request_id, "ann") == query_id
        # Others learn of it once its caller may know its id.
        here.status(query_id)
        assert there.gateway.queries.known.sent_as(request_id, "ann") == query_id
        for caller, unknown in (("bob", request_id), ("ann", uuid4())):
            with pytest.raises(QueryNotFound):
                there.gateway.queries.known.sent_as(unknown, caller)
    here.ended(query_id)
    assert there.gateway.queries.known.sent_as(request_id, "ann") == query_id


def test_a_drain_takes_no_queries_and_ends_when_results_had_time_to_be_read(
    both: tuple[House, House],
) -> None:
    here, there = both
    elsewhere = there.submit()
    there.ended(elsewhere)
    assert here.state(elsewhere) is QueryState.SUCCEEDED
    assert here.gateway.is_drained()
    with here.engine.paused():
        query_id = here.submit()
        here.gateway.begin_drain()
        with pytest.raises(ShuttingDown):
            here.submit()
        # Another replica may have the result.
        with pytest.raises(ShuttingDown):
            here.status(elsewhere)
        assert here.gateway.queries.explainer.explain(elsewhere, "ann").state is QueryState.SUCCEEDED
        here.clock.advance(timedelta(milliseconds=STIRRED_MS))
        assert not here.gateway.is_drained()
    here.gateway.queries.finished(query_id).result(PATIENCE_S)
    assert not here.gateway.is_drained()
    here.clock.advance(timedelta(milliseconds=STIRRED_MS - 1))
    assert here.gateway.queries.results.chunk(query_id, 0, "ann").rows.num_rows
    here.clock.advance(timedelta(milliseconds=STIRRED_MS - 1))
    assert not here.gateway.is_drained()
    assert here.gateway.queries.results.chunk(query_id, 1, "ann").rows.num_rows
    here.clock.advance(timedelta(milliseconds=1))
    assert here.gateway.is_drained()
