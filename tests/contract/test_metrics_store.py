"""The contract of metrics stores, checked on the fake and on PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Protocol
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text

from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from service.adapters.postgres.query_records.metrics_store import PostgresQueryStore
from service.errors.unavailable import MetricsStoreDown
from service.model.operations.health import PartState
from service.model.query.reuse import Reused
from service.ports.stores.query_store import QueryStore
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_records import SUBMITTED_AT, full_record, short_record

NOBODY_THERE = "postgresql+psycopg://postgres:topsecret@127.0.0.1:9/sluice"


class Asks(Protocol):
    def __call__(self, store: QueryStore) -> object: ...


@pytest.fixture(params=["fake", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[QueryStore]:
    if request.param == "fake":
        yield FakeMetricsStore()
        return
    url = request.getfixturevalue("metrics_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE queries CASCADE"))
    engine.dispose()
    real = PostgresQueryStore(url)
    yield real
    real.close()


@pytest.fixture(params=["fake", "postgres"])
def store_that_is_down(request: pytest.FixtureRequest) -> Iterator[QueryStore]:
    if request.param == "fake":
        fake = FakeMetricsStore()
        fake.is_down = True
        yield fake
        return
    real = PostgresQueryStore(NOBODY_THERE)
    yield real
    real.close()


def test_a_record_comes_back_as_it_was_written(store: QueryStore) -> None:
    records = [full_record(), short_record()]
    store.record(records)
    assert [store.find(record.query_id) for record in records] == records


def test_a_record_names_the_query_whose_result_it_reused(store: QueryStore) -> None:
    record = replace(short_record(), reused=Reused(uuid4(), 5 << 40))
    store.record([record])
    assert store.find(record.query_id) == record


def test_a_record_written_twice_stays_as_it_was(store: QueryStore) -> None:
    first = full_record()
    store.record([first])
    store.record([replace(first, sql="SELECT 2"), short_record()])
    assert store.find(first.query_id) == first


def test_of_one_query_twice_in_a_batch_the_first_counts(store: QueryStore) -> None:
    first = full_record()
    store.record([first, replace(first, request_id=None, sql="SELECT 2")])
    assert store.find(first.query_id) == first


def test_a_request_id_belongs_to_its_first_query(store: QueryStore) -> None:
    first = full_record()
    second = replace(first, query_id=uuid4())
    store.record([first])
    store.record([second])
    assert first.request_id is not None
    assert store.find_request("ann", first.request_id) == first
    assert store.find(second.query_id) is None


def test_a_request_id_is_the_callers_own(store: QueryStore) -> None:
    record = full_record()
    store.record([record, replace(record, query_id=uuid4(), caller="bob")])
    assert record.request_id is not None
    found = store.find_request("bob", record.request_id)
    assert found is not None
    assert found.caller == "bob"
    assert store.find_request("eve", record.request_id) is None


def test_a_record_that_is_not_there_is_none(store: QueryStore) -> None:
    assert store.find(uuid4()) is None


def test_nothing_to_record_is_no_error(store: QueryStore) -> None:
    store.record([])


def test_thousands_of_records_are_written_at_once(store: QueryStore) -> None:
    records = [full_record() for _ in range(2_000)]
    store.record(records)
    assert store.find(records[-1].query_id) == records[-1]


def test_older_records_are_forgotten_and_counted(store: QueryStore) -> None:
    day = timedelta(days=1)
    old = replace(full_record(), submitted_at=SUBMITTED_AT - day)
    young = short_record()
    store.record([old, young])
    assert store.forget_before(SUBMITTED_AT) == 1
    assert store.find(old.query_id) is None
    assert store.find(young.query_id) == young
    assert store.forget_before(SUBMITTED_AT) == 0


def test_a_store_that_answers_is_up(store: QueryStore) -> None:
    health = store.health()
    assert (health.name, health.state) == ("metricsStore", PartState.UP)


def test_a_store_that_is_down_says_so_within_a_second(store_that_is_down: QueryStore) -> None:
    before = time.monotonic()
    health = store_that_is_down.health()
    assert time.monotonic() - before < 1
    assert (health.name, health.state) == ("metricsStore", PartState.DOWN)


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.record([full_record()]),
        lambda store: store.find(uuid4()),
        lambda store: store.find_request("ann", uuid4()),
        lambda store: store.forget_before(SUBMITTED_AT),
    ],
    ids=["record", "find", "find_request", "forget_before"],
)
def test_a_store_that_is_down_raises_without_address_or_secret(
    store_that_is_down: QueryStore, ask: Asks
) -> None:
    with pytest.raises(MetricsStoreDown) as caught:
        ask(store_that_is_down)
    assert "127.0.0.1" not in caught.value.detail
    assert "topsecret" not in caught.value.detail


def test_health_does_not_wait_for_a_server_that_never_answers(silent_address: str) -> None:
    store = PostgresQueryStore(f"postgresql+psycopg://postgres:topsecret@{silent_address}/sluice")
    before = time.monotonic()
    states = [store.health().state for _ in range(2)]
    assert time.monotonic() - before < 2
    assert states == [PartState.DOWN, PartState.DOWN]
    store.close()


def test_a_store_without_tables_says_how_to_make_them(postgres: EmbeddedPostgres) -> None:
    store = PostgresQueryStore(postgres.url("postgres"))
    health = store.health()
    store.close()
    assert health.state is PartState.DOWN
    assert "sluice migrate" in health.detail


def test_text_that_postgres_cannot_hold_does_not_stop_the_batch(metrics_url: str) -> None:
    store = PostgresQueryStore(metrics_url)
    odd = replace(full_record(), sql="SELECT '\0\ud800'", tags={"\0": "\0"})
    store.record([odd, short_record()])
    found = store.find(odd.query_id)
    store.close()
    assert found is not None
    assert found.sql == "SELECT '\ufffd?'"


def test_old_records_are_forgotten_in_several_transactions(metrics_url: str) -> None:
    store = PostgresQueryStore(metrics_url)
    long_ago = SUBMITTED_AT - timedelta(days=400)
    store.record([short_record(long_ago) for _ in range(5_500)])
    forgotten = store.forget_before(long_ago + timedelta(days=1))
    store.close()
    assert forgotten == 5_500
