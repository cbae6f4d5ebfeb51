"""The contract of `StreamStore`, for every implementation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from service.adapters.postgres.streams.stream_store import PostgresStreamStore
from service.errors.source_errors import StreamFailed, StreamSourceDown
from service.errors.unavailable import MetricsStoreDown
from service.model.ingest.streams import BatchDone, CreatorRoles, StreamRecord, StreamState
from service.ports.stores.stream_store import StreamStore
from tests.fakes.stream_store import FakeStreamStore

BY_KEY = CreatorRoles("key", frozenset({"loader", "reader"}))
NOON = datetime(2026, 1, 1, 12, 30, 15, 123456, tzinfo=UTC)


@pytest.fixture(params=["fake", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[StreamStore]:
    if request.param == "fake":
        yield FakeStreamStore()
        return
    postgres = PostgresStreamStore(request.getfixturevalue("metrics_url"))
    yield postgres
    postgres.close()


@pytest.fixture(params=["fake", "postgres"])
def down(request: pytest.FixtureRequest) -> Iterator[StreamStore]:
    if request.param == "fake":
        store = FakeStreamStore()
        store.is_down = True
        yield store
        return
    address = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"
    postgres = PostgresStreamStore(address)
    yield postgres
    postgres.close()


def stream(caller: str | None = None) -> StreamRecord:
    return StreamRecord(uuid4(), caller or uuid4().hex, "clicks", {"route": {"field": "kind"}}, NOON)


def done(batch_id: int, records: int = 10) -> BatchDone:
    return BatchDone(uuid4(), batch_id, NOON, records, 1)


def found(store: StreamStore, record: StreamRecord) -> StreamRecord:
    [only] = store.streams(record.caller)
    return only


def test_a_stream_is_found_as_it_was_added(store: StreamStore) -> None:
    record = stream()
    store.add(record)
    assert found(store, record) == record


def test_of_streams_with_one_request_id_the_first_wins(store: StreamStore) -> None:
    record = replace(stream(), request_id=uuid4(), fingerprint="f")
    assert store.add(record) == record
    second = replace(record, stream_id=uuid4(), fingerprint="g")
    assert store.add(second) == record
    assert found(store, record) == record
    of_another = replace(record, stream_id=uuid4(), caller=uuid4().hex)
    without = [replace(stream(record.caller), stream_id=uuid4()) for _ in range(2)]
    for other in (of_another, *without):
        assert store.add(other) == other


def test_a_caller_gets_his_own_the_newest_first(store: StreamStore) -> None:
    first = stream()
    second = replace(stream(first.caller), created_at=NOON + timedelta(seconds=1))
    for record in (first, second, stream()):
        store.add(record)
    assert store.streams(first.caller) == [second, first]
    store.move(second.stream_id, StreamState.STOPPED)
    assert store.streams(first.caller, StreamState.RUNNING) == [first]


def test_only_a_running_stream_can_end_and_any_can_run_again(store: StreamStore) -> None:
    record = stream()
    store.add(record)
    store.move(record.stream_id, StreamState.FAILED, StreamFailed("no luck\0"))
    ended = found(store, record)
    assert (ended.state, ended.error_code) == (StreamState.FAILED, "STREAM_FAILED")
    assert (ended.error_detail or "").startswith("no luck")
    store.move(record.stream_id, StreamState.STOPPED)
    assert found(store, record) == ended
    store.move(record.stream_id, StreamState.RUNNING)
    assert found(store, record) == ended
    store.move(record.stream_id, StreamState.RUNNING, resumed_by=BY_KEY)
    assert found(store, record) == replace(record, creator_roles=BY_KEY)


@pytest.mark.parametrize("roles", [frozenset[str](), frozenset({"a"})], ids=["none", "one"])
def test_the_roles_of_the_creator_are_kept_until_it_resumes_the_stream(
    store: StreamStore, roles: frozenset[str]
) -> None:
    record = replace(stream(), creator_roles=CreatorRoles("key", roles, "0123456789abcdef"))
    store.add(record)
    assert found(store, record) == record
    store.move(record.stream_id, StreamState.STOPPED)
    assert found(store, record) == replace(record, state=StreamState.STOPPED)
    store.move(record.stream_id, StreamState.RUNNING, resumed_by=BY_KEY)
    assert found(store, record) == replace(record, creator_roles=BY_KEY)


def test_a_running_stream_may_have_an_error_for_a_while(store: StreamStore) -> None:
    record = stream()
    store.add(record)
    store.move(record.stream_id, StreamState.RUNNING, StreamSourceDown("no answer"))
    waiting = found(store, record)
    assert (waiting.state, waiting.error_code, waiting.error_detail) == (
        StreamState.RUNNING,
        "STREAM_SOURCE_DOWN",
        "no answer",
    )
    store.move(record.stream_id, StreamState.RUNNING)
    assert found(store, record) == record


def test_a_micro_batch_counts_once(store: StreamStore) -> None:
    record = stream()
    store.add(record)
    last = done(1)
    for batch in (done(0), last, done(1, 99), done(0, 99)):
        store.done(record.stream_id, batch)
    assert found(store, record) == replace(
        record,
        checkpoint_id=last.checkpoint_id,
        last_batch_id=1,
        last_batch_at=NOON,
        batch_count=2,
        record_count=20,
        rejected_count=2,
    )


def test_one_at_a_time_has_a_streams_lease(store: StreamStore) -> None:
    record = stream()
    lease = store.lease(record.stream_id)
    assert lease is not None
    assert lease.is_held()
    assert store.lease(record.stream_id) is None
    other = store.lease(uuid4())
    assert other is not None
    other.release()
    lease.release()
    again = store.lease(record.stream_id)
    assert again is not None
    again.release()


def test_a_store_that_is_down_is_reported(down: StreamStore) -> None:
    with pytest.raises(MetricsStoreDown):
        down.add(stream())
    with pytest.raises(MetricsStoreDown):
        down.streams()
    with pytest.raises(MetricsStoreDown):
        down.lease(uuid4())
