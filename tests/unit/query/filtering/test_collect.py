from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from service.errors.query_errors import (
    FilterCollectionTimedOut,
    QueryCanceled,
    QueryFailed,
    QueryQuarantined,
)
from service.model.filters.dynamic_filter import DynamicFilter, KeyDependency
from service.model.filters.filter_record import FilterOutcome, Reason
from service.model.filters.key_set import DynamicFilteringData, EarlierKeys, FilterSource, ObtainedKeys
from service.model.filters.relations import RelationBounds, RelationQuery
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import Parameters
from service.ports.engine.query_engine import EngineResult
from service.query.filtering.collect import CollectBounds, Collector
from service.query.filtering.collector_threads import CollectorThreads
from service.query.filtering.engine_keys import KEY_BYTES, ROWS_NAME, Collecting, EngineKeys
from service.query.filtering.engine_switches import AGGREGATES_OF_STATISTICS
from service.query.filtering.fetched_relations import LocalRelations
from service.query.filtering.one_reading import OneReading
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine, engine_result
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.filters import date_filter, keys_of
from tests.fakes.key_collector import FakeKeyCollector
from tests.fakes.late_executor import LateExecutor
from tests.fakes.relations import FakeRelations
from tests.polling import until

BOUNDS = CollectBounds(wait_s=20, collect_s=120)
AT_ONCE = replace(BOUNDS, wait_s=0)


def answer(*rows: tuple[Any, ...], is_cut: bool = False) -> EngineResult:
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    table = pa.table(columns, names=[str(position) for position in range(len(columns))])
    return replace(engine_result(), rows=table, is_truncated=is_cut)


def outcome(
    engine: FakeEngine,
    wanted: DynamicFilter,
    cache: FakeFilterCache | None = None,
    reader: FakeKeyCollector | None = None,
) -> FilterOutcome:
    with ThreadPoolExecutor(1) as executor:
        keys = EngineKeys(engine, max_filter_bytes=100 * KEY_BYTES, max_ranges=3)
        cache = cache or FakeFilterCache()
        reader = reader or FakeKeyCollector()
        collector = Collector(reader, keys, cache, executor, FakeClock(), BOUNDS)
        asked = Collecting((), lambda: False, FULL_ACCESS)
        return collector.collect([wanted], [], asked)[0][wanted.filter_id]


def test_keys_are_sorted() -> None:
    found = outcome(FakeEngine(answer((3,), (1,), (2,))), date_filter())
    assert (found.data, found.reason) == (keys_of((1,), (2,), (3,)), Reason.APPLIED)


def test_the_hour_that_comes_twice_is_two_keys() -> None:
    twice = [datetime(2024, 10, 27, hour, 30, tzinfo=UTC) for hour in (0, 1)]
    rows = pa.table({"0": pa.array(twice, pa.timestamp("us", tz="Europe/Zurich"))})
    found = outcome(FakeEngine(replace(answer((1,)), rows=rows)), date_filter())
    assert {value[0].isoformat() for value in found.data.values} == {  # type: ignore[union-attr]
        "2024-10-27T00:30:00+00:00",
        "2024-10-27T01:30:00+00:00",
    }


def test_too_many_keys_become_ranges_between_their_widest_gaps() -> None:
    stripes = answer((800, 900), (100, 300), (1, 40), (310, 500))
    engine = FakeEngine(answer((1,), is_cut=True), answer((1, 900)), stripes)
    found = outcome(engine, date_filter())
    assert found.data.ranges == ((1, 40), (100, 500), (800, 900))
    assert (found.data.values, found.data.exceeds_threshold, found.reason) == ((), True, Reason.APPLIED)


def test_a_null_is_a_key_where_it_equals_null() -> None:
    rows = answer((3,), (None,), (1,))
    wanted = replace(date_filter(), is_null_safe=True)
    assert outcome(FakeEngine(rows), wanted).data == replace(keys_of((1,), (3,)), has_null=True)
    assert outcome(FakeEngine(answer((3,), (1,))), wanted).data == keys_of((1,), (3,))
    alone = answer((pa.scalar(None, pa.int64()),))
    assert outcome(FakeEngine(alone), wanted).data == replace(keys_of(), has_null=True)
    assert outcome(FakeEngine(rows), date_filter()).data == keys_of((1,), (3,))


def test_too_many_keys_may_have_a_null_among_them() -> None:
    stripes = answer((1, 40), (None, None), (100, 300))
    engine = FakeEngine(answer((None,), is_cut=True), answer((1, 300)), stripes)
    found = outcome(engine, replace(date_filter(), is_null_safe=True)).data
    assert (found.ranges, found.has_null) == (((1, 40), (100, 300)), True)


def test_what_the_reader_found_too_many_the_engine_does_not_collect_again() -> None:
    wanted = date_filter()
    reader = FakeKeyCollector(max_keys=2)
    reader.put(wanted.filtering_query, ((1,), (2,), (9,)))
    engine = FakeEngine(answer((1, 9)), answer((1, 2), (9, 9)))
    assert outcome(engine, wanted, reader=reader).data.ranges == ((1, 2), (9, 9))
    assert len(engine.runs) == 2


def test_too_many_days_become_ranges_too() -> None:
    first, last = date(1999, 1, 1), date(2001, 1, 1)
    engine = FakeEngine(
        answer((first,), is_cut=True), answer((first, last)), answer((first, first), (last, last))
    )
    assert outcome(engine, date_filter(type_names=("date",))).data.ranges == ((first, first), (last, last))


def test_of_other_types_the_bounds_remain() -> None:
    engine = FakeEngine(answer(("a",), is_cut=True), answer(("a", "z")))
    assert outcome(engine, date_filter(type_names=("string",))).data.ranges == (("a", "z"),)


def test_of_stripes_that_are_cut_only_the_bounds_are_sure() -> None:
    engine = FakeEngine(answer((1,), is_cut=True), answer((1, 9)), answer((1, 2), is_cut=True))
    assert outcome(engine, date_filter()).data.ranges == ((1, 9),)


def test_without_even_the_bounds_nothing_remains() -> None:
    engine = FakeEngine(answer(("a",), is_cut=True), answer(("a", "z"), is_cut=True))
    found = outcome(engine, date_filter(type_names=("string",)))
    assert found.reason is Reason.THRESHOLD_EXCEEDED


def test_of_too_many_composite_keys_nothing_remains() -> None:
    found = outcome(FakeEngine(answer((1, 2), is_cut=True)), date_filter(type_names=("long", "long")))
    assert found.data == DynamicFilteringData.not_filtering(exceeds_threshold=True)
    assert found.reason is Reason.THRESHOLD_EXCEEDED


def test_ranges_are_cached_as_keys_are() -> None:
    cache, wanted = FakeFilterCache(), date_filter(type_names=("string",))
    engine = FakeEngine(answer(("a",), is_cut=True), answer(("a", "z")))
    first, second = outcome(engine, wanted, cache), outcome(engine, wanted, cache)
    assert (first.source, second.source) == (FilterSource.COLLECTED, FilterSource.CACHED)
    assert first.data == second.data


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_failure_at_any_step_is_a_reason_and_is_not_cached(failing: int) -> None:
    steps: list[EngineResult | Exception] = [
        answer((1,), is_cut=True),
        answer((1, 9)),
        answer((1, 2), (5, 9)),
    ]
    engine = FakeEngine(*steps[:failing], QueryFailed("no"), *steps)
    cache, wanted = FakeFilterCache(), date_filter()
    assert outcome(engine, wanted, cache).reason is Reason.COLLECT_FAILED
    assert outcome(engine, wanted, cache).data.ranges == ((1, 2), (5, 9))


def test_keys_of_a_table_without_snapshots_are_collected_again_each_time() -> None:
    wanted = date_filter()
    wanted = replace(wanted, build=replace(wanted.build, snapshot_ids=(None,)))
    engine, cache = FakeEngine(answer((1,)), answer((1,), (2,))), FakeFilterCache()
    found = [outcome(engine, wanted, cache) for _ in range(2)]
    assert [outcome.data for outcome in found] == [keys_of((1,)), keys_of((1,), (2,))]
    assert {outcome.source for outcome in found} == {FilterSource.COLLECTED}
    assert cache.entries(10) == []


def collected(
    engine: FakeEngine, filters: list[DynamicFilter], cache: FakeFilterCache | None = None
) -> dict[str, FilterOutcome]:
    with ThreadPoolExecutor(1) as executor:
        keys = EngineKeys(engine, max_filter_bytes=100 * KEY_BYTES, max_ranges=3)
        cache = cache or FakeFilterCache()
        collector = Collector(FakeKeyCollector(), keys, cache, executor, FakeClock(), BOUNDS)
        return dict(collector.collect(filters, [], Collecting((), lambda: False, FULL_ACCESS))[0])


def chained_filter(by: DynamicFilter) -> DynamicFilter:
    sql = "SELECT DISTINCT t0.j AS k0 FROM r AS t0 CROSS JOIN d AS t1 WHERE t0.k = t1.k AND t1.x = 1"
    dependency = KeyDependency(by.fingerprint, "t0", "k", "int")
    return replace(
        date_filter(), filter_id="fed", fingerprint="fed", filtering_query=sql, key_dependencies=(dependency,)
    )


def test_the_keys_of_one_filter_prune_the_query_of_another() -> None:
    first = date_filter()
    engine = FakeEngine(answer((1,), (2,), (3,), (4,)), answer((7,)))
    found = collected(engine, [chained_filter(first), first])
    assert engine.runs[1].sql.endswith(" AND t1.x = 1 AND (`t0`.`k` BETWEEN 1 AND 4)")
    assert (found["fed"].data, found[first.filter_id].data) == (
        keys_of((7,)),
        keys_of((1,), (2,), (3,), (4,)),
    )


def test_keys_that_the_query_has_no_filter_for_are_not_collected_to_feed_another() -> None:
    engine = FakeEngine(answer((7,)))
    wanted = chained_filter(date_filter())
    assert collected(engine, [wanted])["fed"].data == keys_of((7,))
    assert [run.sql for run in engine.runs] == [wanted.filtering_query]


def test_no_key_is_taken_from_the_statistics_of_files() -> None:
    many = answer(*((number,) for number in range(101)))
    engine = FakeEngine(replace(many, is_truncated=True), answer((1, 9)), answer((1, 9)))
    found = collected(engine, [date_filter()])
    assert [outcome.data.ranges for outcome in found.values()] == [((1, 9),)]
    assert {run.properties[AGGREGATES_OF_STATISTICS] for run in engine.runs} == {"false"}


def test_a_filter_that_fails_feeds_no_other() -> None:
    first = date_filter()
    engine = FakeEngine(QueryFailed("down"), answer((7,)), QueryFailed("down"))
    wanted = chained_filter(first)
    found = collected(engine, [wanted, first])
    assert found["fed"].data == keys_of((7,))
    assert engine.runs[1].sql == wanted.filtering_query


def test_filters_that_feed_one_another_do_not_wait_for_one_another() -> None:
    first = chained_filter(date_filter())
    second = replace(chained_filter(first), filter_id="second", fingerprint="second")
    engine = FakeEngine(answer((7,)), answer((8,)))
    found = collected(
        engine, [replace(first, key_dependencies=(KeyDependency("second", "t0", "k", "int"),)), second]
    )
    assert {outcome.reason for outcome in found.values()} == {Reason.APPLIED}
    assert [run.sql for run in engine.runs] == [first.filtering_query] * 2


def test_keys_that_cost_too_much_to_collect_are_used_where_they_are_cached() -> None:
    cache, wanted, unknown = FakeFilterCache(), date_filter(), date_filter()
    unsnapped = replace(date_filter(), build=replace(wanted.build, snapshot_ids=(None,)))
    outcome(FakeEngine(answer((1,))), wanted, cache)
    engine = FakeEngine()
    with ThreadPoolExecutor(1) as executor:
        keys = EngineKeys(engine, max_filter_bytes=1000, max_ranges=3)
        collector = Collector(FakeKeyCollector(), keys, cache, executor, FakeClock(), BOUNDS)
        asked = Collecting((), lambda: False, FULL_ACCESS)
        found, _ = collector.collect([], [replace(wanted, filter_id="df2"), unknown, unsnapped], asked)
        collector.disable(frozenset({wanted.fingerprint}))
        assert collector.collect([], [wanted], asked)[0] == {
            wanted.filter_id: FilterOutcome.none(Reason.DISABLED)
        }
    assert {name: outcome.source for name, outcome in found.items()} == {"df2": FilterSource.CACHED}
    assert engine.runs == []


def test_keys_that_are_late_keep_none_from_those_that_are_not() -> None:
    late, soon = date_filter(), replace(date_filter(), filter_id="soon", filtering_query="SELECT 1 AS k0")
    executor, cache = LateExecutor(late=(0,)), FakeFilterCache()
    keys = EngineKeys(FakeEngine(answer((1,)), answer((2,))), 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(FakeKeyCollector(), keys, cache, executor, FakeClock(), AT_ONCE)
    asked = Collecting((), lambda: False, FULL_ACCESS)
    found, _ = collector.collect([late, soon], [], asked)
    assert found[late.filter_id] == FilterOutcome.none(Reason.COLLECT_TIMED_OUT)
    assert (found["soon"].reason, found["soon"].data) == (Reason.APPLIED, keys_of((1,)))
    executor.catch_up()
    again, _ = collector.collect([late, soon], [], asked)
    assert {outcome.source for outcome in again.values()} == {FilterSource.CACHED}
    assert again[late.filter_id].data == keys_of((2,))


def test_a_collection_that_has_not_begun_is_not_made_for_a_query_that_has_gone_on() -> None:
    engine, executor = FakeEngine(answer((1,))), LateExecutor(late=(0,), queued=True)
    keys = EngineKeys(engine, 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(FakeKeyCollector(), keys, FakeFilterCache(), executor, FakeClock(), AT_ONCE)
    found, _ = collector.collect([date_filter()], [], Collecting((), lambda: False, FULL_ACCESS))
    assert [outcome.reason for outcome in found.values()] == [Reason.COLLECT_TIMED_OUT]
    executor.catch_up()
    assert engine.runs == []


def test_keys_that_another_replica_collects_too_long_are_late_too() -> None:
    class Busy(FakeFilterCache):
        def obtain(self, *_: object) -> ObtainedKeys:
            raise FilterCollectionTimedOut

    found = outcome(FakeEngine(), date_filter(), Busy())
    assert found == FilterOutcome.none(Reason.COLLECT_TIMED_OUT)


def test_keys_that_are_disabled_are_given_to_no_query_and_forgotten() -> None:
    wanted, other, cache = date_filter(), replace(date_filter(), filter_id="other"), FakeFilterCache()
    keys = EngineKeys(FakeEngine(answer((1,)), answer((2,))), 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(FakeKeyCollector(), keys, cache, LateExecutor(()), FakeClock(), AT_ONCE)
    asked = Collecting((), lambda: False, FULL_ACCESS)
    collector.collect([wanted, other], [], asked)
    collector.disable(frozenset({wanted.fingerprint}))
    assert cache.stored.keys() == {other.fingerprint}
    found, _ = collector.collect([wanted, other], [], asked)
    assert found[wanted.filter_id] == FilterOutcome.none(Reason.DISABLED)
    assert found["other"].source is FilterSource.CACHED
    assert cache.stored.keys() == {other.fingerprint}


def test_keys_that_are_here_do_not_queue_behind_those_that_are_collected() -> None:
    known, cache, executor = date_filter(), FakeFilterCache(), LateExecutor(late=(0,))
    outcome(FakeEngine(answer((1,))), known, cache)
    other = replace(date_filter(), filter_id="other", filtering_query="SELECT 1 AS k0")
    keys = EngineKeys(FakeEngine(), 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(FakeKeyCollector(), keys, cache, executor, FakeClock(), AT_ONCE)
    asked = Collecting((), lambda: False, FULL_ACCESS)
    found, _ = collector.collect([other], [replace(known, filter_id="known")], asked)
    assert {name: outcome.reason for name, outcome in found.items()} == {
        "other": Reason.COLLECT_TIMED_OUT,
        "known": Reason.APPLIED,
    }


def test_a_failure_that_nobody_foresaw_costs_one_filter() -> None:
    class Broken(FakeKeyCollector):
        def collect(
            self, wanted: DynamicFilter, parameters: Parameters, is_canceled: Callable[[], bool]
        ) -> DynamicFilteringData | None:
            if wanted.filter_id == "broken":
                raise AttributeError("nobody foresaw this")
            return super().collect(wanted, parameters, is_canceled)

    broken = replace(date_filter(), filter_id="broken", filtering_query="SELECT 1 AS k0")
    sound = date_filter()
    keys = EngineKeys(FakeEngine(answer((1,))), 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(Broken(), keys, FakeFilterCache(), LateExecutor(()), FakeClock(), AT_ONCE)
    found, _ = collector.collect([broken, sound], [], Collecting((), lambda: False, FULL_ACCESS))
    assert found["broken"] == FilterOutcome.none(Reason.COLLECT_FAILED)
    assert found[sound.filter_id].reason is Reason.APPLIED


def test_such_a_failure_of_the_cache_costs_one_filter() -> None:
    class Broken(FakeFilterCache):
        def cached(self, wanted: DynamicFilter) -> ObtainedKeys:
            raise AttributeError(f"nobody foresaw {wanted.filter_id}")

    known = replace(date_filter(), filter_id="known")
    keys = EngineKeys(FakeEngine(), 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(FakeKeyCollector(), keys, Broken(), LateExecutor(()), FakeClock(), AT_ONCE)
    found, _ = collector.collect([], [known], Collecting((), lambda: False, FULL_ACCESS))
    assert found == {"known": FilterOutcome.none(Reason.COLLECT_FAILED)}


def test_a_collection_that_nobody_waits_for_is_given_up() -> None:
    engine, clock = FakeEngine(answer((1,))), FakeClock()
    keys = EngineKeys(engine, 100 * KEY_BYTES, max_ranges=3)
    with ThreadPoolExecutor(1) as executor:
        collector = Collector(FakeKeyCollector(), keys, FakeFilterCache(), executor, clock, AT_ONCE)
        with engine.paused():
            found, _ = collector.collect([date_filter()], [], Collecting((), lambda: False, FULL_ACCESS))
            clock.advance(timedelta(seconds=121))
            executor.shutdown(wait=True)
    assert [outcome.reason for outcome in found.values()] == [Reason.COLLECT_TIMED_OUT]
    assert set(engine.cancels) == {run.query_id for run in engine.runs}


def without_a_cache(engine: FakeEngine, worth: list[DynamicFilter], others: list[DynamicFilter]) -> set[str]:
    """Returns the reasons and notes of a query whose filter cache is down."""
    cache = FakeFilterCache()
    cache.is_down = True
    keys = EngineKeys(engine, 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(FakeKeyCollector(), keys, cache, LateExecutor(()), FakeClock(), AT_ONCE)
    found, _ = collector.collect(worth, others, Collecting((), lambda: False, FULL_ACCESS))
    return {f"{outcome.reason}: {outcome.note}" for outcome in found.values()}


def test_keys_that_are_not_worth_collecting_say_why_they_could_not_be_found() -> None:
    found = without_a_cache(FakeEngine(), [], [date_filter()])
    assert found == {"NOT_WORTH_COLLECTING: The filter cache does not answer."}


def test_keys_that_could_not_be_collected_either_say_why_they_could_not_be_found() -> None:
    found = without_a_cache(FakeEngine(QueryFailed("no")), [date_filter()], [])
    assert found == {"COLLECT_FAILED: The filter cache does not answer."}


def test_keys_that_are_late_say_why_they_could_not_be_found() -> None:
    cache, engine = FakeFilterCache(), FakeEngine(answer((1,)))
    cache.is_down = True
    keys = EngineKeys(engine, 100 * KEY_BYTES, max_ranges=3)

    class Begun(ThreadPoolExecutor):
        def submit(self, *call: Any, **named: Any) -> Future[Any]:
            future = super().submit(*call, **named)
            engine.wait_for_runs(1)
            return future

    with Begun(1) as executor:
        collector = Collector(FakeKeyCollector(), keys, cache, executor, FakeClock(), AT_ONCE)
        with engine.paused():
            found, _ = collector.collect([date_filter()], [], Collecting((), lambda: False, FULL_ACCESS))
    [late] = found.values()
    assert (late.reason, late.note) == (Reason.COLLECT_TIMED_OUT, "The filter cache does not answer.")


class Carrier:
    """Carries over what a test gave it, and notes who asked."""

    def __init__(self, data: DynamicFilteringData | None) -> None:
        self.data = data
        self.asked: list[str] = []

    def carry(
        self,
        wanted: DynamicFilter,  # noqa: ARG002
        earlier: EarlierKeys,
        parameters: Parameters,  # noqa: ARG002
        is_canceled: Callable[[], bool],  # noqa: ARG002
    ) -> DynamicFilteringData | None:
        self.asked.append(earlier.fingerprint)
        return self.data


@pytest.mark.parametrize("carried", [keys_of((1,)), None])
def test_keys_of_an_earlier_snapshot_are_carried_over_or_collected(
    carried: DynamicFilteringData | None,
) -> None:
    engine, cache, carrier = FakeEngine(answer((7,)), answer((8,))), FakeFilterCache(), Carrier(carried)
    before, after = (
        replace(date_filter(fingerprint), series="s", build=replace(date_filter().build, snapshot_ids=(at,)))
        for fingerprint, at in (("before", 1), ("after", 2))
    )
    with ThreadPoolExecutor(1) as executor:
        keys = EngineKeys(engine, max_filter_bytes=100 * KEY_BYTES, max_ranges=3)
        collector = Collector(FakeKeyCollector(), keys, cache, executor, FakeClock(), BOUNDS, carrier)
        asked = Collecting((), lambda: False, FULL_ACCESS)
        found = [
            collector.collect([wanted], [], asked)[0][wanted.filter_id] for wanted in (before, after, after)
        ]
        collector.disable(frozenset({"after"}))
    sources = [each.source for each in found]
    if carried is None:
        assert sources == [FilterSource.COLLECTED, FilterSource.COLLECTED, FilterSource.CACHED]
        assert found[1].data == keys_of((8,))
        assert cache.superseded == []
    else:
        assert sources == [FilterSource.COLLECTED, FilterSource.CARRIED_OVER, FilterSource.CACHED]
        assert [each.data for each in found[1:]] == [carried, carried]
        assert cache.superseded == ["before"]
        assert len(engine.runs) == 1
    assert carrier.asked == ["before"]


def test_disabled_keys_are_not_carried_over() -> None:
    engine, cache, carrier = FakeEngine(answer((7,)), answer((8,))), FakeFilterCache(), Carrier(keys_of((1,)))
    before, after = (
        replace(date_filter(fingerprint), series="s", build=replace(date_filter().build, snapshot_ids=(at,)))
        for fingerprint, at in (("before", 1), ("after", 2))
    )
    with ThreadPoolExecutor(1) as executor:
        keys = EngineKeys(engine, max_filter_bytes=100 * KEY_BYTES, max_ranges=3)
        collector = Collector(FakeKeyCollector(), keys, cache, executor, FakeClock(), BOUNDS, carrier)
        asked = Collecting((), lambda: False, FULL_ACCESS)
        collector.collect([before], [], asked)
        collector.disable(frozenset({"before"}))
        found = collector.collect([after], [], asked)[0][after.filter_id]
    assert (found.source, found.data, carrier.asked) == (FilterSource.COLLECTED, keys_of((8,)), [])


class Joined:
    """A collection ahead of queries on an engine, and a query that asks for the same keys while it runs."""

    def __init__(self, engine: FakeEngine, interrupt: Callable[[Joined], None]) -> None:
        self.engine = engine
        self.looks = 0
        self.is_interrupted = False
        wanted = date_filter()
        with CollectorThreads(2) as threads, ThreadPoolExecutor(2) as callers:
            keys = EngineKeys(engine, 100 * KEY_BYTES, max_ranges=3)
            collector = Collector(FakeKeyCollector(), keys, FakeFilterCache(), threads, FakeClock(), BOUNDS)
            ahead = Collecting((), self._look, FULL_ACCESS, within_s=0, is_rehearsal=True)
            with engine.paused():
                first = callers.submit(collector.prefetch, wanted, {}, ahead, 20)
                engine.wait_for_runs(1)
                asked = Collecting((), lambda: False, FULL_ACCESS)
                second = callers.submit(collector.collect, [wanted], [], asked)
                until(lambda: threads.use.busy == 2)
                interrupt(self)
            self.ahead, self.of_query = first.result(), second.result()[0][wanted.filter_id]

    def _look(self) -> bool:
        self.looks += self.is_interrupted
        return self.is_interrupted


def test_a_collection_ahead_of_queries_goes_on_for_a_query_that_has_joined_it() -> None:
    def interrupt(joined: Joined) -> None:
        joined.is_interrupted = True
        until(lambda: joined.looks > 1 or joined.engine.cancels)

    joined = Joined(FakeEngine(answer((1,))), interrupt)
    assert (len(joined.engine.runs), joined.engine.cancels) == (1, [])
    assert joined.ahead.source is FilterSource.COLLECTED
    assert (joined.of_query.source, joined.of_query.data) == (FilterSource.CACHED, keys_of((1,)))


def test_the_refusal_of_a_rehearsal_fails_no_query() -> None:
    joined = Joined(FakeEngine(QueryQuarantined(), answer((1,))), lambda _: None)
    assert joined.ahead == FilterOutcome.none(Reason.COLLECT_FAILED)
    assert (joined.of_query.source, joined.of_query.data) == (FilterSource.COLLECTED, keys_of((1,)))


def test_a_rehearsal_that_exceeds_the_bound_on_collections_has_failed() -> None:
    clock = FakeClock()

    class Slow(FakeKeyCollector):
        def collect(
            self, wanted: DynamicFilter, parameters: Parameters, is_canceled: Callable[[], bool]
        ) -> DynamicFilteringData | None:
            clock.advance(timedelta(seconds=BOUNDS.collect_s + 1))
            if is_canceled():
                raise QueryCanceled
            return super().collect(wanted, parameters, is_canceled)

    keys = EngineKeys(FakeEngine(), 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(Slow(), keys, FakeFilterCache(), LateExecutor(()), clock, BOUNDS)
    ahead = Collecting((), lambda: False, FULL_ACCESS, within_s=0, is_rehearsal=True)
    found = collector.prefetch(date_filter(), {}, ahead, 20)
    assert found == FilterOutcome.none(Reason.COLLECT_FAILED)


@pytest.mark.parametrize("is_rehearsal", [False, True])
def test_a_rehearsal_makes_the_engine_read_keys_only(is_rehearsal: bool) -> None:
    wanted, fetched = date_filter(), FakeRelations()
    relations = LocalRelations(fetched, LateExecutor(()), RelationBounds(max_rows=100, max_bytes=10_000))
    with_rows = OneReading(relations, {wanted.fingerprint: RelationQuery(wanted.build, "SELECT …", "rows")})
    asked = Collecting((), lambda: False, FULL_ACCESS, with_rows=with_rows, is_rehearsal=is_rehearsal)
    keys = EngineKeys(FakeEngine(answer((1,)), answer((1,))), 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(FakeKeyCollector(), keys, FakeFilterCache(), LateExecutor(()), FakeClock(), BOUNDS)
    assert collector.prefetch(wanted, {}, asked, 20).data == keys_of((1,))
    assert len(fetched.fetches) == (0 if is_rehearsal else 1)


@pytest.mark.parametrize("is_evicted", [False, True], ids=["in memory", "evicted"])
def test_keys_that_only_the_engine_reads_come_from_wider_rows_in_memory(is_evicted: bool) -> None:
    source = "`lake`.`tpcds`.`date_dim` VERSION AS OF 2 AS `t0`"
    wanted = replace(
        date_filter(),
        filtering_query=f"SELECT DISTINCT `t0`.`d_date_sk` FROM {source} WHERE `t0`.`d_year` = 1",
    )
    whole = RelationQuery(
        replace(wanted.build, predicate=""), f"SELECT `t0`.`d_date_sk` FROM {source}", "whole"
    )
    fetched = FakeRelations()
    relations = LocalRelations(fetched, LateExecutor(()), RelationBounds(max_rows=100, max_bytes=10_000))
    with_rows = OneReading(relations, in_memory={wanted.fingerprint: whole})
    asked = Collecting((), lambda: False, FULL_ACCESS, with_rows=with_rows)
    outcomes = (QueryFailed("The rows no longer exist."),) if is_evicted else ()
    engine = FakeEngine(*outcomes, answer((1,), (1,)))
    keys = EngineKeys(engine, 100 * KEY_BYTES, max_ranges=3)
    collector = Collector(FakeKeyCollector(), keys, FakeFilterCache(), LateExecutor(()), FakeClock(), BOUNDS)
    found = collector.prefetch(wanted, {}, asked, 20)
    assert (found.data, found.rows_read, fetched.fetches) == (keys_of((1,)), "", [])
    first, *others = engine.runs
    assert (first.sql, first.relations) == (
        f"SELECT `t0`.`d_date_sk` FROM `{ROWS_NAME}` AS `t0` WHERE `t0`.`d_year` = 1",
        {ROWS_NAME: "whole"},
    )
    assert [run.sql for run in others] == ([wanted.filtering_query] if is_evicted else [])
