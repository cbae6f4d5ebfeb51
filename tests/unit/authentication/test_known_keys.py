from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from service.authentication.check_key import check_key
from service.authentication.known_keys import KeyTimes, KnownKeys
from service.errors.credential_errors import ApiKeyExpired, ApiKeyInvalid, ApiKeyRevoked, AuthenticationDown
from service.model.authentication.api_keys import ApiKey, made_key, sent_key
from tests.fakes.clock import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TIMES = KeyTimes(fresh_s=5, outage_s=60, rest_s=1)
UNSECRET = ApiKey("", b"", "ada", frozenset({"reader"}), "of a test", NOON, "ops")
MADE = made_key(UNSECRET)
KEY = MADE.key


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def test_a_key_is_made_once_and_its_secret_is_in_no_text_of_it() -> None:
    sent = sent_key(MADE.text)
    assert sent is not None
    assert check_key(sent, KEY, NOON) is KEY
    assert made_key(UNSECRET).text != MADE.text
    assert sent.secret not in f"{sent!r} {MADE!r} {KEY!r}"
    assert KEY.secret_sha256.hex() not in repr(KEY)
    assert len(MADE.text) == len("sluice_") + 16 + 1 + 43


@pytest.mark.parametrize(
    ("key", "refusal"),
    [
        (None, ApiKeyInvalid),
        (made_key(UNSECRET).key, ApiKeyInvalid),
        (replace(KEY, expires_at=NOON), ApiKeyExpired),
        (replace(KEY, revoked_at=NOON), ApiKeyRevoked),
        (replace(KEY, revoked_at=NOON, secret_sha256=bytes(32)), ApiKeyInvalid),
    ],
)
def test_only_whoever_has_the_secret_is_reported_why(key: ApiKey | None, refusal: type[Exception]) -> None:
    sent = sent_key(MADE.text)
    assert sent is not None
    with pytest.raises(refusal):
        check_key(sent, key, NOON)


@pytest.mark.parametrize(
    "text",
    ["", "sluice_", "sluice_1_2", MADE.text + "=", MADE.text[:-1], "x" + MADE.text],
    # A key is random, and all processes of a run must give its tests the same names.
    ids=["nothing", "prefix", "short", "padded", "cut", "other prefix"],
)
def test_what_is_no_key_is_not_looked_up(text: str) -> None:
    assert sent_key(text) is None


def test_a_key_counts_for_a_while_and_is_asked_for_again_then() -> None:
    clock = FakeClock()
    known: KnownKeys[ApiKey] = KnownKeys(clock, TIMES)
    assert known.find("a") is None
    known.confirm(["a", "none"], {"a": KEY})
    for key_id, key in (("a", KEY), ("none", None)):
        found = known.find(key_id)
        assert found is not None
        assert found.key is key
    clock.advance(seconds(5))
    assert known.find("a") is None
    assert known.find("none") is None


def test_keys_in_use_are_confirmed_with_the_question_for_another() -> None:
    clock = FakeClock()
    known: KnownKeys[ApiKey] = KnownKeys(clock, TIMES)
    known.confirm(["a", "b"], {"a": KEY, "b": KEY})
    clock.advance(seconds(3))
    known.find("a")
    assert known.to_ask(["c"]) == {"a", "b", "c"}
    clock.advance(seconds(8))
    assert known.to_ask(["c"]) == {"a", "c"}


def test_known_keys_go_on_while_the_store_is_down_for_a_bounded_time() -> None:
    clock = FakeClock()
    known: KnownKeys[ApiKey] = KnownKeys(clock, TIMES)
    known.confirm(["a", "none"], {"a": KEY})
    clock.advance(seconds(6))
    known.fail()
    assert known.find_after_asking("a").key is KEY
    for key_id in ("none", "new"):
        with pytest.raises(AuthenticationDown):
            known.find_after_asking(key_id)
    assert not known.is_probe_due()
    assert known.to_ask(["new"]) == frozenset()
    clock.advance(seconds(2))
    assert known.is_probe_due()
    assert known.find("a") is not None
    clock.advance(seconds(60))
    with pytest.raises(AuthenticationDown):
        known.find_after_asking("a")


def test_a_revocation_counts_once_the_store_answers_again() -> None:
    clock = FakeClock()
    known: KnownKeys[ApiKey] = KnownKeys(clock, TIMES)
    known.confirm(["a"], {"a": KEY})
    known.fail()
    clock.advance(seconds(2))
    known.confirm(["a"], {"a": replace(KEY, revoked_at=NOON)})
    found = known.find("a")
    assert found is not None
    assert found.key is not None
    assert found.key.revoked_at == NOON


def test_made_up_ids_push_no_key_out() -> None:
    known: KnownKeys[ApiKey] = KnownKeys(FakeClock(), TIMES, max_keys=10)
    known.confirm(["a"], {"a": KEY})
    for number in range(1000):
        known.confirm([str(number)], {})
    assert known.find("a") is not None


def test_an_answer_from_before_a_revocation_here_does_not_count() -> None:
    known: KnownKeys[ApiKey] = KnownKeys(FakeClock(), TIMES)
    known.to_ask(["a", "b"])
    known.forget("a")
    known.confirm(["a", "b"], {"a": KEY, "b": KEY})
    assert known.find("a") is None
    assert known.find("b") is not None
    known.to_ask(["a"])
    known.confirm(["a"], {"a": KEY})
    assert known.find("a") is not None


def test_a_change_of_a_key_concerns_its_sessions() -> None:
    known: KnownKeys[ApiKey] = KnownKeys(FakeClock(), TIMES)
    known.confirm(["a", "b"], {"a": KEY, "b": replace(KEY, key_id="other")})
    known.to_ask(["c"])
    known.forget(KEY.key_id)
    known.confirm(["c"], {"c": KEY})
    assert known.find("a") is known.find("c") is None
    assert known.find("b") is not None


def test_what_was_changed_here_is_asked_for_at_once() -> None:
    known: KnownKeys[ApiKey] = KnownKeys(FakeClock(), TIMES)
    known.confirm(["a"], {"a": KEY})
    known.forget("a")
    assert known.find("a") is None
