"""What every filter cache promises; the same for the fake and for a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from service.adapters.embedded_valkey import EmbeddedValkey
from service.adapters.filter_cache import RedisFilterCache
from service.model.health import PartHealth, PartState
from service.ports import FilterCache
from tests.fakes.filter_cache import FakeFilterCache


@pytest.fixture(params=["fake", "valkey"])
def cache(request: pytest.FixtureRequest) -> Iterator[FilterCache]:
    if request.param == "fake":
        yield FakeFilterCache()
        return
    real = RedisFilterCache(request.getfixturevalue("valkey").url)
    yield real
    real.close()


@pytest.fixture(params=["fake", "refused", "silent"])
def cache_that_is_down(request: pytest.FixtureRequest) -> Iterator[FilterCache]:
    if request.param == "fake":
        fake = FakeFilterCache()
        fake.is_down = True
        yield fake
        return
    is_silent = request.param == "silent"
    address = request.getfixturevalue("silent_address") if is_silent else "127.0.0.1:9"
    real = RedisFilterCache(f"redis://:topsecret@{address}/0")
    yield real
    real.close()


def test_a_cache_that_answers_is_up(cache: FilterCache) -> None:
    assert cache.health() == PartHealth("filterCache", PartState.UP)


def test_a_cache_that_is_down_says_so_within_a_second(cache_that_is_down: FilterCache) -> None:
    before = time.monotonic()
    health = cache_that_is_down.health()
    assert time.monotonic() - before < 1
    assert health == PartHealth("filterCache", PartState.DOWN, "The filter cache does not answer.")


def test_a_wrong_password_is_named_and_not_told(valkey: EmbeddedValkey) -> None:
    address = valkey.url.split("@")[1]
    cache = RedisFilterCache(f"redis://:topsecret@{address}")
    health = cache.health()
    cache.close()
    assert health.state is PartState.DOWN
    assert "password" in health.detail
    assert "topsecret" not in health.detail
