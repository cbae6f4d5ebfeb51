from __future__ import annotations

from datetime import timedelta

from service.authentication.signing_keys import SigningKeys, SigningKeyTimes
from service.model.authentication.access_tokens import SigningKey
from tests.fakes.clock import FakeClock

ONE = SigningKey("one", frozenset({"RS256"}), object())
TWO = SigningKey("two", frozenset({"ES256"}), object())
TIMES = SigningKeyTimes(max_age_s=300, cooldown_s=5, outage_s=3600)


def test_fetches_keep_their_distance_whatever_comes() -> None:
    clock = FakeClock()
    keys = SigningKeys(clock, TIMES)
    assert keys.may_fetch()
    keys.begin_fetch()
    assert not keys.may_fetch()
    clock.advance(timedelta(seconds=5))
    assert keys.may_fetch()


def test_keys_are_fetched_again_when_they_are_old_and_go_on_meanwhile() -> None:
    clock = FakeClock()
    keys = SigningKeys(clock, TIMES)
    keys.begin_fetch()
    keys.take({"one": ONE})
    assert not keys.is_due()
    clock.advance(timedelta(seconds=300))
    assert keys.is_due()
    assert keys.find("one", "RS256") is ONE
    clock.advance(timedelta(seconds=3300))
    assert keys.find("one", "RS256") is None
    assert not keys.has_keys


def test_old_keys_wait_for_a_fetch_unless_the_issuer_is_down() -> None:
    clock = FakeClock()
    keys = SigningKeys(clock, TIMES)
    keys.take({"one": ONE})
    clock.advance(timedelta(seconds=599))
    assert not keys.is_stale()
    clock.advance(timedelta(seconds=1))
    assert keys.is_stale()
    keys.fail()
    assert not keys.is_stale()
    assert keys.find("one", "RS256") is ONE
    keys.take({"one": ONE})
    clock.advance(timedelta(seconds=600))
    assert keys.is_stale()


def test_a_key_that_is_published_no_more_counts_no_more() -> None:
    keys = SigningKeys(FakeClock(), TIMES)
    keys.take({"one": ONE})
    keys.take({"two": TWO})
    assert keys.find("one", "RS256") is None


def test_a_token_without_an_id_has_the_only_key_that_fits() -> None:
    keys = SigningKeys(FakeClock(), TIMES)
    keys.take({"one": ONE, "two": TWO})
    assert keys.find("", "ES256") is TWO
    keys.take({"one": ONE, "other": SigningKey("other", frozenset({"RS256"}), object())})
    assert keys.find("", "RS256") is None
