"""The contract of query histories, checked on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from sqlalchemy import create_engine, text

from service.adapters.postgres.query_records.metrics_store import PostgresQueryStore
from service.adapters.postgres.query_records.query_history import PostgresQueryHistory
from service.errors.unavailable import MetricsStoreDown
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterSource
from service.model.query.history import (
    MAX_FREQUENT_BYTES,
    MAX_SQL_CHARACTERS,
    FilteringQuery,
    FrequentQuery,
    QueryListing,
    TablePruning,
    summary_of,
)
from service.model.query.query import QueryRecord, QueryState
from service.model.query.reuse import Reused
from service.model.query.scan_metrics import Selection
from service.ports.stores.query_store import QueryHistory, QueryStore
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_history import FakeQueryHistory
from tests.fakes.query_records import SUBMITTED_AT, applied, full_record, refused, scan, short_record

NOBODY_THERE = "postgresql+psycopg://postgres:topsecret@127.0.0.1:9/sluice"
FACT = "lake.tpcds.store_returns"
LONG_MS = 1_000_000


@dataclass
class Archive:
    """A metrics store to write to, and the history that reads it."""

    store: QueryStore
    history: QueryHistory


@pytest.fixture(params=["fake", "postgres"])
def archive(request: pytest.FixtureRequest) -> Iterator[Archive]:
    if request.param == "fake":
        fake = FakeMetricsStore()
        yield Archive(fake, FakeQueryHistory(fake))
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE queries CASCADE"))
    engine.dispose()
    store, history = PostgresQueryStore(url), PostgresQueryHistory(url)
    yield Archive(store, history)
    store.close()
    history.close()


@pytest.fixture(params=["fake", "postgres"])
def history_that_is_down(request: pytest.FixtureRequest) -> Iterator[QueryHistory]:
    if request.param == "fake":
        fake = FakeMetricsStore()
        fake.is_down = True
        yield FakeQueryHistory(fake)
        return
    real = PostgresQueryHistory(NOBODY_THERE)
    yield real
    real.close()


def at_second(second: int) -> QueryRecord:
    return short_record(SUBMITTED_AT + timedelta(seconds=second))


def test_a_callers_queries_come_newest_first_and_no_one_elses(archive: Archive) -> None:
    records = [at_second(second) for second in (2, 0, 1)]
    archive.store.record([*records, replace(at_second(3), caller="bob")])
    found = archive.history.queries(QueryListing("ann", limit=10))
    assert [summary.query_id for summary in found] == [records[index].query_id for index in (0, 2, 1)]
    assert archive.history.queries(QueryListing("eve", limit=10)) == []
    everyones = archive.history.queries(QueryListing(None, limit=2))
    assert [summary.caller for summary in everyones] == ["bob", "ann"]


def test_a_listed_query_says_what_its_record_says(archive: Archive) -> None:
    record = full_record()
    archive.store.record([record])
    [found] = archive.history.queries(QueryListing("ann", limit=10))
    assert found == summary_of(record, elapsed_ms=1 + 2 + 3)
    assert (found.error_code, found.elapsed_ms) == ("QUERY_FAILED", 6)


def test_of_a_long_text_the_beginning_is_listed(archive: Archive) -> None:
    archive.store.record([replace(short_record(), sql="ü" * (MAX_SQL_CHARACTERS + 1))])
    [found] = archive.history.queries(QueryListing("ann", limit=10))
    assert found.sql == "ü" * MAX_SQL_CHARACTERS


def test_only_queries_of_a_state_are_listed_when_one_is_asked_for(archive: Archive) -> None:
    failed = full_record()
    archive.store.record([failed, short_record()])
    found = archive.history.queries(QueryListing("ann", limit=10, state=QueryState.FAILED))
    assert [summary.query_id for summary in found] == [failed.query_id]


def test_pages_follow_one_another_without_gap_or_repetition(archive: Archive) -> None:
    # Several records have the same time, so the time alone does not order them.
    records = [at_second(number // 3) for number in range(10)]
    archive.store.record(records)
    listing, pages = QueryListing("ann", limit=4), []
    while page := archive.history.queries(listing):
        pages.append([summary.query_id for summary in page])
        listing = replace(listing, before=page[-1].position)
    assert [len(page) for page in pages] == [4, 4, 2]
    assert {query_id for page in pages for query_id in page} == {record.query_id for record in records}


def test_pruning_is_summed_by_table(archive: Archive) -> None:
    again = replace(refused(Reason.NOT_WORTH_COLLECTING), probe=applied().probe)
    cached = replace(applied("df3"), source=FilterSource.CACHED, collection_ms=0)
    first = replace(short_record(), scans=(scan(FACT, 10, 1), scan(FACT, 20, 2)), filters=(applied(), again))
    second = replace(short_record(), scans=(scan(FACT, 30, 3),), filters=(cached,))
    archive.store.record([first, second])
    assert archive.history.pruning(SUBMITTED_AT, None) == [
        TablePruning(
            table=FACT,
            query_count=2,
            scan_count=3,
            data_files=Selection(180, 18),
            bytes=Selection(60 << 40, 6 << 40),
            filters_by_reason={Reason.APPLIED: 2, Reason.NOT_WORTH_COLLECTING: 1},
            filters_by_source={FilterSource.COLLECTED: 1, FilterSource.NONE: 1, FilterSource.CACHED: 1},
            collection_ms=17,
        )
    ]


def test_a_reused_result_is_not_something_that_pruning_skipped(archive: Archive) -> None:
    ran = replace(short_record(), scans=(scan(FACT, 10, 1),))
    reused = replace(short_record(), scans=(scan(FACT, 10, 0),), reused=Reused(ran.query_id, 5))
    archive.store.record([ran, reused])
    [found] = archive.history.pruning(SUBMITTED_AT, None)
    assert (found.query_count, found.scan_count, found.data_files) == (1, 1, Selection(30, 3))


def test_a_table_that_was_pruned_away_and_one_without_filters_are_both_reported(archive: Archive) -> None:
    archive.store.record([replace(short_record(), scans=(scan("lake.a.t", 1, 1),), filters=(applied(),))])
    plain, pruned_away = archive.history.pruning(SUBMITTED_AT, None)
    assert (plain.table, plain.applied_count, plain.scan_count) == ("lake.a.t", 0, 1)
    assert (pruned_away.table, pruned_away.applied_count, pruned_away.scan_count) == (FACT, 1, 0)


def test_pruning_is_that_of_one_table_and_of_late_when_asked_for(archive: Archive) -> None:
    old = replace(at_second(-1), scans=(scan(FACT, 10, 1),))
    young = replace(at_second(0), scans=(scan(FACT, 20, 2), scan("lake.a.t", 1, 1)))
    archive.store.record([old, young])
    [found] = archive.history.pruning(SUBMITTED_AT, FACT)
    assert (found.table, found.data_files) == (FACT, Selection(60, 6))
    assert archive.history.pruning(SUBMITTED_AT, "lake.a.\0") == []


@pytest.mark.parametrize(
    "ask",
    [
        lambda history: history.queries(QueryListing("ann", limit=1)),
        lambda history: history.pruning(SUBMITTED_AT, None),
        lambda history: history.frequent(SUBMITTED_AT, 1, LONG_MS),
        lambda history: history.scans(SUBMITTED_AT, FACT, 1),
        lambda history: history.filtering(SUBMITTED_AT, 1, 1),
    ],
    ids=["queries", "pruning", "frequent", "scans", "filtering"],
)
def test_a_history_that_is_down_raises_without_address_or_secret(
    history_that_is_down: QueryHistory, ask: Callable[[QueryHistory], object]
) -> None:
    with pytest.raises(MetricsStoreDown) as caught:
        ask(history_that_is_down)
    assert "127.0.0.1" not in caught.value.detail
    assert "topsecret" not in caught.value.detail


def test_texts_that_ran_often_come_first_and_the_newest_of_equals(archive: Archive) -> None:
    often = [replace(at_second(second), sql="SELECT 'often'") for second in (1, 2, 3)]
    once = [replace(at_second(second), sql=f"SELECT {second}") for second in (4, 5)]
    elsewhere = replace(at_second(6), sql="SELECT 'often'", schema="other")
    archive.store.record([*often, *once, elsewhere])
    place = (often[0].catalog, often[0].schema)
    assert archive.history.frequent(SUBMITTED_AT, 10, LONG_MS) == [
        FrequentQuery("SELECT 'often'", *place),
        FrequentQuery("SELECT 'often'", place[0], "other"),
        FrequentQuery("SELECT 5", *place),
        FrequentQuery("SELECT 4", *place),
    ]
    assert archive.history.frequent(SUBMITTED_AT, 1, LONG_MS) == [FrequentQuery("SELECT 'often'", *place)]
    later = archive.history.frequent(SUBMITTED_AT + timedelta(seconds=5), 10, LONG_MS)
    assert [query.sql for query in later] == ["SELECT 'often'", "SELECT 5"]


def test_texts_that_failed_or_did_not_run_are_not_frequent(archive: Archive) -> None:
    ran = at_second(1)
    failed = replace(at_second(2), sql="SELECT 1/0", state=QueryState.FAILED)
    answered = replace(at_second(3), sql="SELECT 3", reused=Reused(ran.query_id, 5))
    archive.store.record([ran, failed, answered])
    assert [query.sql for query in archive.history.frequent(SUBMITTED_AT, 10, LONG_MS)] == [ran.sql]


def test_texts_that_took_or_are_too_long_are_not_frequent(archive: Archive) -> None:
    quick = replace(at_second(1), sql="SELECT 1", planning_ms=40, running_ms=60)
    slow = replace(at_second(2), sql="SELECT 2", planning_ms=40, running_ms=61)
    long = replace(
        quick, query_id=at_second(3).query_id, sql="SELECT 'é" + "é" * (MAX_FREQUENT_BYTES // 2) + "'"
    )
    archive.store.record([quick, slow, long])
    assert [query.sql for query in archive.history.frequent(SUBMITTED_AT, 10, 100)] == ["SELECT 1"]


def test_scans_of_a_table_come_without_row_groups_and_the_newest_first(archive: Archive) -> None:
    [counted, *_] = full_record().scans
    assert counted.metrics.row_groups
    first = replace(counted, metrics=replace(counted.metrics, row_groups=None))
    assert first.predicates
    old, other = replace(first, snapshot_id=1), scan("lake.a.t", 1, 1)
    archive.store.record(
        [replace(at_second(1), scans=(old, other)), replace(at_second(2), scans=(counted, old))]
    )
    assert archive.history.scans(SUBMITTED_AT, FACT, 10) == [first, old, old]
    assert archive.history.scans(SUBMITTED_AT, FACT, 2) == [first, old]
    assert archive.history.scans(SUBMITTED_AT + timedelta(seconds=2), FACT, 10) == [first, old]


def test_scans_that_read_nothing_for_an_answer_are_not_listed(archive: Archive) -> None:
    skipped = replace(at_second(1), scans=(replace(scan(FACT, 9, 0), has_run=False),))
    reused = replace(at_second(2), scans=(scan(FACT, 9, 1),), reused=Reused(skipped.query_id, 5))
    failed = replace(at_second(3), scans=(scan(FACT, 9, 1),), state=QueryState.FAILED)
    archive.store.record([skipped, reused, failed])
    assert archive.history.scans(SUBMITTED_AT, FACT, 10) == []


def test_texts_whose_filters_were_applied_come_with_the_tables_of_their_keys(archive: Archive) -> None:
    often = [replace(at_second(second), sql="SELECT 'often'", filters=(applied(),)) for second in (1, 2, 3)]
    # Two filters of one query count once, and each list of tables is apart.
    twice = (applied(), replace(applied("df2"), build=refused().build))
    both = [
        replace(at_second(second), sql="SELECT 'both'", filters=(*twice, applied("df3"))) for second in (4, 5)
    ]
    not_applied = [replace(at_second(second), sql="SELECT 1", filters=(refused(),)) for second in (6, 7)]
    failed = [
        replace(at_second(second), sql="SELECT 2", state=QueryState.FAILED, filters=(applied(),))
        for second in (8, 9)
    ]
    once = replace(at_second(10), sql="SELECT 3", filters=(applied(),))
    archive.store.record([*often, *both, *not_applied, *failed, once])
    texts = {
        sql: FrequentQuery(sql, once.catalog, once.schema) for sql in ("SELECT 'often'", "SELECT 'both'")
    }
    of_one, of_two = ("lake.tpcds.date_dim",), ("lake.tpcds.item", "lake.eu.tpcds.store")
    found = archive.history.filtering(SUBMITTED_AT, 10, 2)
    assert found[0] == FilteringQuery(texts["SELECT 'often'"], of_one, 3)
    assert {each.tables: each for each in found[1:]} == {
        of_one: FilteringQuery(texts["SELECT 'both'"], of_one, 2),
        of_two: FilteringQuery(texts["SELECT 'both'"], of_two, 2),
    }
    assert archive.history.filtering(SUBMITTED_AT, 1, 2) == [found[0]]
    late = archive.history.filtering(SUBMITTED_AT + timedelta(seconds=3), 10, 1)
    assert [each.count for each in late] == [2, 2, 1, 1]
