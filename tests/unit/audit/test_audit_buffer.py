from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from service.audit.audit_buffer import BATCH, AuditBuffer, BufferBounds, size_of
from service.errors.policy_errors import AuditLogFull
from service.errors.unavailable import MetricsStoreDown
from service.model.audit.events import AuditEvent, WhenFull
from tests.contract.test_journal import eventually
from tests.fakes.audit import FakeAuditLog, full_event, short_event
from tests.fakes.clock import FakeClock

YEAR = timedelta(days=365)
Building = Callable[..., AuditBuffer]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def log(clock: FakeClock) -> FakeAuditLog:
    return FakeAuditLog(clock)


@pytest.fixture
def buffer_of(log: FakeAuditLog, clock: FakeClock) -> Iterator[Building]:
    """Builds a buffer, whose thread a test starts if it needs it."""
    made: list[AuditBuffer] = []

    def build(**bounds: object) -> AuditBuffer:
        all_bounds = BufferBounds(**({"close_within_s": 5.0} | bounds))  # type: ignore[arg-type]
        made.append(AuditBuffer(log, clock, YEAR, all_bounds))
        return made[-1]

    yield build
    log.is_down = False
    for buffer in made:
        buffer.close()


def test_events_are_written_in_order_and_in_batches(buffer_of: Building, log: FakeAuditLog) -> None:
    buffer = buffer_of()
    events = [short_event() for _ in range(BATCH + 3)]
    for event in events:
        buffer.write(event)
    buffer.flush()
    assert log.events == events
    assert log.batches == [BATCH, 3]
    assert (buffer.use.waiting, buffer.use.written, buffer.use.dropped) == (0, BATCH + 3, 0)


def test_a_thread_writes_by_itself(buffer_of: Building, log: FakeAuditLog) -> None:
    buffer = buffer_of()
    buffer.start()
    buffer.write(short_event())
    eventually(lambda: len(log.events) == 1)


def test_events_wait_while_the_log_is_down_and_are_written_once(
    buffer_of: Building, log: FakeAuditLog
) -> None:
    buffer = buffer_of()
    log.is_down = True
    events = [short_event(), short_event()]
    for event in events:
        buffer.write(event)
    with pytest.raises(MetricsStoreDown):
        buffer.flush()
    assert buffer.use.waiting == 2
    log.is_down = False
    buffer.flush()
    assert log.events == events


def test_with_refusal_there_is_a_place_for_each_request_that_was_taken(
    buffer_of: Building, log: FakeAuditLog
) -> None:
    buffer = buffer_of(capacity=3, when_full=WhenFull.REFUSE)
    log.is_down = True
    buffer.write(short_event())
    buffer.reserve()
    buffer.reserve()
    with pytest.raises(AuditLogFull):
        buffer.reserve()
    buffer.write(short_event(), is_reserved=True)
    buffer.write(short_event(), is_reserved=True)
    assert (buffer.use.waiting, buffer.use.dropped, buffer.use.refused) == (3, 0, 1)
    log.is_down = False
    buffer.flush()
    buffer.reserve()
    buffer.write(short_event(), is_reserved=True)


def test_an_event_without_a_place_is_in_the_log_of_the_gateway(
    buffer_of: Building, log: FakeAuditLog
) -> None:
    buffer = buffer_of(capacity=1)
    log.is_down = True
    buffer.reserve()
    buffer.reserve()
    buffer.write(short_event(), is_reserved=True)
    lost = full_event()
    with capture_logs() as lines:
        buffer.write(lost, is_reserved=True)
    [line] = lines
    assert line["event"] == "audit_event_dropped"
    assert str(lost.event_id) in line["detail"]
    assert "SELECT" not in line["detail"]
    assert (buffer.use.waiting, buffer.use.dropped) == (1, 1)


def test_large_events_fill_the_buffer_too(buffer_of: Building) -> None:
    event = full_event()
    buffer = buffer_of(capacity_bytes=2 * size_of(event), when_full=WhenFull.REFUSE)
    buffer.write(event)
    buffer.reserve()
    buffer.write(event, is_reserved=True)
    with pytest.raises(AuditLogFull):
        buffer.reserve()
    buffer.flush()
    buffer.reserve()
    buffer.write(short_event(), is_reserved=True)


def test_events_without_a_place_leave_half_of_the_buffer_to_requests(
    buffer_of: Building, log: FakeAuditLog
) -> None:
    buffer = buffer_of(capacity=6, when_full=WhenFull.REFUSE)
    log.is_down = True
    for _ in range(10):
        buffer.write(short_event())
    assert (buffer.use.waiting, buffer.use.dropped) == (3, 7)
    buffer.reserve()
    buffer.write(short_event(), is_reserved=True)
    assert buffer.use.waiting == 4


def test_a_retention_that_fails_does_not_stop_events(clock: FakeClock) -> None:
    class KeepsAll(FakeAuditLog):
        def forget(self, older_than: timedelta) -> int:
            raise MetricsStoreDown(f"Nothing older than {older_than} can be deleted.")

    log = KeepsAll(clock)
    buffer = AuditBuffer(log, clock, YEAR)
    buffer.start()
    buffer.write(short_event())
    eventually(lambda: len(log.events) == 1)
    buffer.write(short_event())
    eventually(lambda: len(log.events) == 2)
    buffer.close()


def test_one_event_that_the_log_rejects_does_not_block_the_others(
    buffer_of: Building, log: FakeAuditLog
) -> None:
    buffer = buffer_of()
    events = [short_event() for _ in range(4)]
    log.rejected = {events[0].event_id, events[2].event_id}
    for event in events:
        buffer.write(event)
    with capture_logs() as lines:
        buffer.flush()
    assert log.events == [events[1], events[3]]
    assert [line["event"] for line in lines] == ["audit_event_rejected"] * 2
    assert (buffer.use.waiting, buffer.use.written, buffer.use.dropped) == (0, 2, 2)


def test_a_log_that_goes_down_between_two_events_rejects_nothing(clock: FakeClock) -> None:
    class GoesDown(FakeAuditLog):
        def add(self, events: Sequence[AuditEvent]) -> None:
            if len(events) > 1:
                raise MetricsStoreDown
            super().add(events)
            self.is_down = True

    log = GoesDown(clock)
    buffer = AuditBuffer(log, clock, YEAR)
    for _ in range(3):
        buffer.write(short_event())
    with pytest.raises(MetricsStoreDown):
        buffer.flush()
    assert (buffer.use.waiting, buffer.use.dropped) == (3, 0)


def test_a_close_waits_for_requests_in_progress_and_writes_all(
    buffer_of: Building, log: FakeAuditLog
) -> None:
    buffer = buffer_of()
    buffer.start()
    buffer.follow(lambda is_all: [short_event()] if is_all else [])
    buffer.write(short_event())
    buffer.close()
    assert len(log.events) == 2


def test_events_that_a_close_cannot_write_are_in_the_log_of_the_gateway(
    buffer_of: Building, log: FakeAuditLog
) -> None:
    buffer = buffer_of(close_within_s=0.2)
    log.is_down = True
    buffer.start()
    buffer.reserve()
    buffer.write(short_event())
    with capture_logs() as lines:
        buffer.close()
        late = short_event()
        buffer.write(late, is_reserved=True)
    found = [line["event"] for line in lines if line["event"].startswith("audit_event")]
    assert found == ["audit_event_lost", "audit_event_dropped"]
    assert buffer.use.dropped == 2


def test_sums_are_taken_while_half_of_the_buffer_is_free(buffer_of: Building, log: FakeAuditLog) -> None:
    buffer = buffer_of(capacity=4)
    log.is_down = True
    asked: list[bool] = []

    def take(is_all: bool) -> Sequence[AuditEvent]:
        asked.append(is_all)
        return [short_event()]

    buffer.follow(take)
    buffer.start()
    eventually(lambda: buffer.use.waiting == 2)
    eventually(lambda: asked == [False, False])


def test_old_events_are_forgotten_at_the_start_and_hourly(
    buffer_of: Building, log: FakeAuditLog, clock: FakeClock
) -> None:
    log.add([short_event()])
    clock.advance(timedelta(days=366))
    buffer = buffer_of()
    buffer.start()
    eventually(lambda: log.events == [])
