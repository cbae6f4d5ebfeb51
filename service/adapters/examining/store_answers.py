"""Stores that are asked for their version, their clock and their bounds; nothing in them is changed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import OperationalError

from service.errors import FilterCacheDown, MetricsStoreDown
from service.model.store_answer import StoreAnswer
from service.ports import Clock

ROUNDS = 3
ANSWER_WITHIN_S = 5
_BOUNDS = {"connect_timeout": ANSWER_WITHIN_S, "options": f"-c statement_timeout={ANSWER_WITHIN_S * 1000}"}


def ask_metrics_store(url: str, clock: Clock) -> StoreAnswer:
    """What PostgreSQL answers within some seconds.

    Raises:
        MetricsStoreDown: it does not answer, or lets nobody in.
    """
    engine = create_engine(url, poolclass=NullPool, connect_args=_BOUNDS, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            version = str(connection.scalar(text("SHOW server_version")))

            def now() -> datetime:
                return cast(datetime, connection.scalar(text("SELECT now()")))

            round_trip_ms, ahead_ms = _compared(now, clock)
            return StoreAnswer(f"PostgreSQL {version.split()[0]}", round_trip_ms, ahead_ms)
    except OperationalError as error:
        # The driver's own message holds the address.
        raise MetricsStoreDown() from error
    finally:
        engine.dispose()


def ask_filter_cache(url: str, clock: Clock) -> StoreAnswer:
    """What a Redis-protocol server answers within some seconds.

    Raises:
        FilterCacheDown: it does not answer, or refuses to.
    """
    client: redis.Redis = redis.Redis.from_url(
        url,
        socket_connect_timeout=ANSWER_WITHIN_S,
        socket_timeout=ANSWER_WITHIN_S,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        client.ping()

        def now() -> datetime:
            seconds, microseconds = client.time()
            return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)

        round_trip_ms, ahead_ms = _compared(now, clock)
        info = _info(client)
        name = "Valkey" if "valkey_version" in info else "Redis"
        version = info.get("valkey_version") or info.get("redis_version") or "of an unknown version"
        policy, limit = str(info.get("maxmemory_policy", "")), int(info.get("maxmemory", 0))
        return StoreAnswer(f"{name} {version}", round_trip_ms, ahead_ms, policy, limit)
    except redis.AuthenticationError as refusal:
        raise FilterCacheDown("The filter cache refuses the password.") from refusal
    except redis.ResponseError as refusal:
        raise FilterCacheDown("The filter cache refuses to answer.") from refusal
    except (redis.RedisError, OSError) as failure:
        raise FilterCacheDown() from failure
    finally:
        client.close()


def _info(client: redis.Redis) -> dict[str, Any]:
    # Who may read and write keys need not be allowed to look at the server.
    found: dict[str, Any] = {}
    for section in ("server", "memory"):
        with suppress(redis.ResponseError):
            found |= client.info(section)
    return found


def _compared(now: Callable[[], datetime], clock: Clock) -> tuple[float, float]:
    """The shortest round trip of some, and how far the other clock was ahead in the middle of it."""
    rounds = []
    for _ in range(ROUNDS):
        began_ms, before = clock.elapsed_ms(), clock.now()
        there = now()
        after, ended_ms = clock.now(), clock.elapsed_ms()
        ahead = there - (before + (after - before) / 2)
        rounds.append((float(ended_ms - began_ms), ahead / timedelta(milliseconds=1)))
    return min(rounds)
