"""Two gateways over one store: each knows every id that the other has given out, whenever it is asked."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from uuid import UUID, uuid4

import pytest

from service.errors.query_errors import QueryNotFound, RequestIdReused, TooManyQueries
from service.errors.unavailable import MetricsStoreDown
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.history import QueryListing
from service.model.query.progress import Phase, QueryProgress, QueuePlace
from service.model.query.query import QueryRecord, QueryRequest, QueryState
from service.model.query.replicas import ProgressReport, Replica
from service.query.query_service import QueryBounds, QueryService, Submission
from service.query.registry.awaited_records import AwaitedBounds, AwaitedRecords
from service.query.registry.presence import PresenceBounds
from tests.fakes.clock import FakeClock
from tests.fakes.journal import FakeJournal
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_history import FakeQueryHistory
from tests.fakes.replicas import FakeReplicas, MeetingPlace
from tests.polling import until
from tests.thorough import IS_THOROUGH
from tests.unit.query.conftest import Bench

PATIENCE_S = 20.0
ORDERS = 300 if IS_THOROUGH else 20
# Its own beats say nothing: only what is reported before an answer counts.
RARE = PresenceBounds(interval_s=300, lost_after_s=1_000)


class LateJournal(FakeJournal):
    """Writes its records to the store when a test says so."""

    def __init__(self, store: FakeMetricsStore) -> None:
        super().__init__()
        self._late_store = store

    def write(self) -> None:
        records: list[QueryRecord] = list(self.records)
        if records:
            self._late_store.record(records)
            # In this order: a record is always in one of the two.
            del self.records[: len(records)]


class Gateway:
    def __init__(self, place: MeetingPlace, bench: Bench, pause: Callable[[float], object]) -> None:
        self.bench = bench
        self.journal = LateJournal(place.store)
        ports = replace(bench.ports, journal=self.journal)
        bounds = QueryBounds(workers=1, max_queued=100, result_ttl_ms=600_000, presence=RARE, pause=pause)
        store = place.store
        self.replicas = FakeReplicas(place, Replica(uuid4(), "host"))
        self.queries = QueryService(ports, store, FakeQueryHistory(store), bounds, self.replicas)

    def close(self) -> None:
        self.bench.engine.release()
        self.queries.end(PATIENCE_S)
        self.queries.close()


class Pair:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.place = MeetingPlace(FakeMetricsStore())
        self.pauses = 0
        self.written_after = self.random.randrange(18)
        clock = FakeClock()
        here, there = Bench(clock=clock), Bench(clock=clock)
        there.results = here.results
        self.here, self.there = (Gateway(self.place, bench, self.pause) for bench in (here, there))

    def pause(self, _: float) -> None:
        """While the other gateway waits, the first one comes to write its records."""
        self.pauses += 1
        if self.pauses > self.written_after:
            self.here.journal.write()

    def submit(self) -> UUID:
        request = QueryRequest("SELECT 1", timeout_ms=60_000)
        return self.here.queries.submit(request, "ann", FULL_ACCESS).query_id

    def meet(self) -> None:
        """Lets each gateway see the other one, as its next beat would."""
        for gateway in (self.here, self.there):
            with gateway.bench.engine.paused():
                sent = gateway.queries.submit(QueryRequest("SELECT 0", timeout_ms=60_000), "eve", FULL_ACCESS)
                gateway.queries.status(sent.query_id, "eve")
            gateway.queries.finished(sent.query_id).result(PATIENCE_S)
            until(partial(gateway.journal.find, sent.query_id), PATIENCE_S)
            gateway.journal.write()

    def given_out(self, query_id: UUID) -> QueryState:
        """Answers the caller, as the edge does: from now on it may ask anybody."""
        return self.here.queries.status(query_id, "ann").record.state

    def ended(self, query_id: UUID) -> None:
        """Waits for its end and its record, which comes a moment later: pauses here take no time."""
        self.here.queries.finished(query_id).result(PATIENCE_S)
        until(lambda: self.here.journal.find(query_id) is not None, PATIENCE_S)


@contextmanager
def pair(seed: int = 0) -> Iterator[Pair]:
    made = Pair(seed)
    with ExitStack() as stack:
        for gateway in (made.here, made.there):
            stack.callback(gateway.close)
        yield made


ASKED = ("status", "chunk", "explain", "cancel", "finished")


def ask(both: Pair, what: str, query_id: UUID) -> None:
    queries = both.there.queries
    match what:
        case "status":
            assert queries.status(query_id, "ann").record.caller == "ann"
        case "chunk":
            assert queries.results.chunk(query_id, 0, "ann").rows.num_rows == 3
        case "explain":
            assert queries.explainer.explain(query_id, "ann").sql == "SELECT 1"
        case "cancel":
            queries.cancel(query_id, "ann")
        case _:
            assert queries.finished(query_id).done() in (True, False)


@pytest.mark.parametrize("what", ASKED)
def test_an_id_of_a_query_that_has_ended_is_known(what: str) -> None:
    for seed in range(ORDERS):
        with pair(seed) as both:
            query_id = both.submit()
            both.ended(query_id)
            assert both.given_out(query_id) is QueryState.SUCCEEDED
            for _ in range(both.random.randrange(2)):
                both.here.journal.write()
            ask(both, what, query_id)


@pytest.mark.parametrize("what", [what for what in ASKED if what != "chunk"])
def test_an_id_of_a_query_that_has_just_begun_is_known(what: str) -> None:
    for seed in range(ORDERS):
        with pair(seed) as both:
            both.written_after = 1_000
            with both.here.bench.engine.paused():
                query_id = both.submit()
                if both.random.random() < 0.5:
                    both.here.bench.engine.wait_for_runs(1)
                assert not both.given_out(query_id).is_final
                ask(both, what, query_id)
            assert both.pauses == 0


def test_a_query_that_is_open_at_one_gateway_is_listed_by_both() -> None:
    with pair() as both:
        both.meet()
        with both.here.bench.engine.paused():
            query_id = both.submit()
            both.given_out(query_id)
            listing = QueryListing("ann", limit=10)
            for gateway in (both.here, both.there):
                [listed] = gateway.queries.overview.list_queries(listing)
                assert (listed.query_id, listed.state.is_final) == (query_id, False)
            assert both.there.queries.overview.list_queries(QueryListing("bob", limit=10)) == []
        both.ended(query_id)
        both.here.journal.write()
        [listed] = both.there.queries.overview.list_queries(listing)
        assert listed.state is QueryState.SUCCEEDED


def test_a_query_that_another_gateway_reports_has_its_queue_and_its_progress() -> None:
    with pair() as both:
        both.meet()
        with both.here.bench.engine.paused():
            query_id = both.submit()
            both.here.bench.engine.wait_for_runs(1)
            both.given_out(query_id)
            progress = QueryProgress(phase=Phase.RUNNING, percent=40, counters=None)
            both.here.replicas.report_progress({query_id: ProgressReport(None, progress)}, 9)
            status = both.there.queries.status(query_id, "ann")
            assert (status.progress, status.is_elsewhere) == (progress, True)
            assert both.there.queries.explainer.explain(query_id, "ann").progress == progress
            with pytest.raises(QueryNotFound):
                both.there.queries.status(query_id, "bob")

            waiting = both.submit()
            both.given_out(waiting)
            place = QueuePlace(1, 1800, "global.ann")
            both.here.replicas.report_progress({waiting: ProgressReport(place)}, 9)
            assert both.there.queries.status(waiting, "ann").queue == place
            listed = both.there.queries.overview.list_queries(QueryListing("ann", limit=10))
            assert {each.query_id: each.queue for each in listed} == {query_id: None, waiting: place}
            assert both.there.queries.overview.list_queries(QueryListing("bob", limit=10)) == []
            assert not both.here.queries.status(query_id, "ann").is_elsewhere


def new_request() -> QueryRequest:
    return QueryRequest("SELECT 1", timeout_ms=60_000, request_id=uuid4())


def test_a_request_that_is_sent_to_the_other_gateway_again_is_the_same_query() -> None:
    with pair() as both:
        both.meet()
        both.written_after, asked = 1_000, new_request()
        with both.here.bench.engine.paused():
            sent = both.here.queries.submit(asked, "ann", FULL_ACCESS)
            again = both.there.queries.submit(asked, "ann", FULL_ACCESS)
            assert (sent.is_reused, again) == (False, Submission(sent.query_id, is_reused=True))
            assert both.there.queries.status(sent.query_id, "ann").record.request_id == asked.request_id
            with pytest.raises(RequestIdReused):
                both.there.queries.submit(replace(asked, sql="SELECT 2"), "ann", FULL_ACCESS)
            assert not both.there.queries.submit(asked, "bob", FULL_ACCESS).is_reused
        both.ended(sent.query_id)
        # Its record is not written yet.
        assert both.there.queries.submit(asked, "ann", FULL_ACCESS) == again
        both.here.journal.write()
        assert both.there.queries.submit(asked, "ann", FULL_ACCESS) == again


def test_of_gateways_that_get_a_request_at_once_one_begins_it() -> None:
    for seed in range(ORDERS):
        with pair(seed) as both:
            both.meet()
            asked = new_request()
            send = partial(QueryService.submit, request=asked, caller="ann", access=FULL_ACCESS)
            with both.here.bench.engine.paused(), both.there.bench.engine.paused():
                with ThreadPoolExecutor(4) as threads:
                    sent = list(threads.map(send, [both.here.queries, both.there.queries] * 2))
                assert len({each.query_id for each in sent}) == 1
                assert [each.is_reused for each in sent].count(False) == 1
                assert both.place.rows.keys() == {sent[0].query_id}


def test_a_request_that_found_no_place_may_be_sent_to_the_other_gateway() -> None:
    with pair() as both:
        both.meet()
        with both.here.bench.engine.paused():
            refused = next(filter(None, (_refused(both.here, new_request()) for _ in range(300))))
            # Nobody was given an id of a query that does not begin.
            assert both.here.replicas.claims == len(both.place.rows)
            assert not both.there.queries.submit(refused, "ann", FULL_ACCESS).is_reused


def _refused(gateway: Gateway, asked: QueryRequest) -> QueryRequest | None:
    """Returns the request if there is no place for it."""
    try:
        gateway.queries.submit(asked, "ann", FULL_ACCESS)
    except TooManyQueries:
        return asked
    return None


def test_a_request_that_another_gateway_has_begun_takes_no_place() -> None:
    with pair() as both:
        both.meet()
        with both.here.bench.engine.paused():
            asked = new_request()
            both.here.queries.submit(asked, "ann", FULL_ACCESS)
            for sql in ("SELECT 1", "SELECT 2") * 2:
                with suppress(RequestIdReused):
                    both.there.queries.submit(replace(asked, sql=sql), "ann", FULL_ACCESS)
            assert both.there.queries.workers.use.waiting == 0


def test_a_gateway_without_others_asks_for_no_queries_of_others() -> None:
    alone = Gateway(MeetingPlace(FakeMetricsStore()), Bench(), lambda _: None)
    try:
        until(lambda: alone.queries.known.is_held(uuid4()))
        assert alone.queries.overview.list_queries(QueryListing("ann", limit=10)) == []
        assert alone.replicas.lists == 0
    finally:
        alone.close()


def test_without_the_store_each_gateway_begins_what_it_is_sent() -> None:
    with pair() as both:
        both.meet()
        asked = new_request()
        with both.here.bench.engine.paused(), both.there.bench.engine.paused():
            both.place.store.is_down = True
            sent = [each.queries.submit(asked, "ann", FULL_ACCESS) for each in (both.here, both.there)]
            assert [each.is_reused for each in sent] == [False, False]
            both.place.store.is_down = False


def test_rows_of_a_query_that_ends_while_others_still_think_it_open_are_read() -> None:
    for seed in range(ORDERS):
        with pair(seed) as both:
            with both.here.bench.engine.paused():
                query_id = both.submit()
                both.here.bench.engine.wait_for_runs(1)
                both.given_out(query_id)
            both.ended(query_id)
            assert both.given_out(query_id) is QueryState.SUCCEEDED
            ask(both, "chunk", query_id)


def test_a_caller_gets_an_answer_about_no_other_callers_query() -> None:
    with pair() as both:
        query_id = both.submit()
        both.ended(query_id)
        with pytest.raises(QueryNotFound):
            both.there.queries.status(query_id, "bob")


def test_an_id_that_nobody_gave_out_is_not_found_within_the_bound() -> None:
    with pair() as both:
        with pytest.raises(QueryNotFound):
            both.there.queries.status(uuid4(), "ann")
        assert both.pauses == 20


def test_a_store_that_is_down_is_named_and_not_waited_for() -> None:
    with pair() as both:
        query_id = both.submit()
        both.ended(query_id)
        both.place.store.is_down = True
        with pytest.raises(MetricsStoreDown):
            both.there.queries.status(query_id, "ann")
        assert both.pauses == 0
        both.place.store.is_down = False


def test_only_some_wait_at_once() -> None:
    looks: list[str] = []
    records: AwaitedRecords

    def nested(_: float) -> None:
        if len(looks) < 10:
            assert records.found(lambda: looks.append("nested"), lambda _: False) is None

    records = AwaitedRecords(FakeClock(), AwaitedBounds(wait_s=0.1, at_once=1), nested)
    assert records.found(lambda: looks.append("waits"), lambda _: False) is None
    # The nested ones look once each, since the only place is taken.
    assert looks == ["waits", "nested", "waits", "nested", "waits"]
