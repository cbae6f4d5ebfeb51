from __future__ import annotations

from datetime import timedelta

from service.audit.failed_logins import FailedLogin, FailedLogins
from service.model.audit.events import Action, Outcome
from tests.fakes.clock import FakeClock


def login(address: str = "10.0.0.7", kind: str = "key", code: str = "API_KEY_INVALID") -> FailedLogin:
    return FailedLogin(address, kind, code)


def test_failures_of_an_address_are_one_event_a_minute() -> None:
    clock = FakeClock()
    failed, began_at = FailedLogins(clock), clock.now()
    for _ in range(3):
        failed.note(login(), "0" * 16)
        clock.advance(timedelta(seconds=10))
    failed.note(login("10.0.0.8"), None)
    assert failed.take(False) == []
    clock.advance(timedelta(seconds=30))
    [event] = failed.take(False)
    assert (event.at, event.count, event.duration_ms) == (began_at, 3, 20_000)
    assert (event.action, event.outcome) == (Action.AUTHENTICATION, Outcome.REFUSED)
    assert (event.origin.address, event.origin.kind, event.origin.key_id) == ("10.0.0.7", "key", "0" * 16)
    [other] = failed.take(True)
    assert other.origin.address == "10.0.0.8"
    assert failed.take(True) == []


def test_an_event_names_a_key_only_if_it_is_the_only_one() -> None:
    failed = FailedLogins(FakeClock())
    for key_id in ("0" * 16, "1" * 16, "0" * 16):
        failed.note(login(), key_id)
    [event] = failed.take(True)
    assert event.origin.key_id is None


def test_a_flood_from_many_addresses_is_counted_in_bounded_memory() -> None:
    failed = FailedLogins(FakeClock(), max_sums=10)
    for number in range(1_000):
        failed.note(login(f"10.0.{number // 250}.{number % 250}"), None)
    events = failed.take(True)
    assert len(events) == 11
    assert sum(event.count for event in events) == 1_000
    assert [event.count for event in events if event.origin.address is None] == [990]
