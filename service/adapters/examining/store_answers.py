"""Asks stores for their version, clock and bounds; changes nothing in them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import psycopg
import redis
from redis.cluster import RedisCluster
from redis.exceptions import RedisClusterException
from sqlalchemy import Connection, NullPool, text
from sqlalchemy.exc import OperationalError

from service.adapters.filters.cache_client import cache_client, close, ping, sentinels
from service.adapters.postgres.shared.connecting import connection_options, store_engine
from service.errors.unavailable import FilterCacheDown, MetricsStoreDown
from service.model.operations.cache_address import cache_address
from service.model.operations.store_answer import StoreAnswer
from service.ports.clock import Clock

ROUNDS = 3
ANSWER_WITHIN_S = 5
_BOUNDS: dict[str, object] = {
    "connect_timeout": ANSWER_WITHIN_S,
    "options": f"-c statement_timeout={ANSWER_WITHIN_S * 1000}",
}
_NO_STANDBY = (
    "Set synchronous_standby_names: without it, a standby that takes over may lack the last"
    " acknowledged writes."
)
_ONE_IS_GONE = "Restart the server that does not answer: no other one is left if one more fails."


def ask_metrics_store(url: str, clock: Clock) -> StoreAnswer:
    """Returns PostgreSQL's version, round trip and clock offset, asked within some seconds.

    Raises:
        MetricsStoreDown: it does not answer, or rejects the login.
    """
    engine = store_engine(
        url, _BOUNDS, silent_at_most_s=ANSWER_WITHIN_S, poolclass=NullPool, isolation_level="AUTOCOMMIT"
    )
    try:
        with engine.connect() as connection:
            version = str(connection.scalar(text("SHOW server_version")))

            def now() -> datetime:
                return cast(datetime, connection.scalar(text("SELECT now()")))

            round_trip_ms, ahead_ms = _compared(now, clock)
            remarks, cures = _of_several(url, connection)
            remarks = (_encryption(connection), *remarks)
        name = f"PostgreSQL {version.split()[0]}"
        return StoreAnswer(name, round_trip_ms, ahead_ms, remarks=remarks, cures=cures)
    except OperationalError as error:
        # The driver's own message holds the address.
        raise MetricsStoreDown() from error
    finally:
        engine.dispose()


def ask_filter_cache(url: str, clock: Clock) -> StoreAnswer:
    """Returns a Redis-protocol server's version, round trip, clock offset and memory bounds.

    It is asked within some seconds.

    Raises:
        FilterCacheDown: it does not answer, or refuses to.
    """
    client: redis.Redis | None = None
    try:
        client = cache_client(url, ANSWER_WITHIN_S)
        ping(client)
        server, remarks = _one_server(client)

        def now() -> datetime:
            seconds, microseconds = server.time()
            return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)

        round_trip_ms, ahead_ms = _compared(now, clock)
        info = _info(server)
        name = "Valkey" if "valkey_version" in info else "Redis"
        version = info.get("valkey_version") or info.get("redis_version") or "of an unknown version"
        policy, limit = str(info.get("maxmemory_policy", "")), int(info.get("maxmemory", 0))
        asked, cures = _sentinels(url)
        return StoreAnswer(
            f"{name} {version}", round_trip_ms, ahead_ms, policy, limit, remarks + asked, cures
        )
    except redis.AuthenticationError as refusal:
        raise FilterCacheDown("The filter cache refuses the password.") from refusal
    except redis.ResponseError as refusal:
        raise FilterCacheDown("The filter cache refuses to answer.") from refusal
    except (redis.RedisError, RedisClusterException, OSError) as failure:
        raise FilterCacheDown() from failure
    finally:
        if client is not None:
            close(client)


def _encryption(connection: Connection) -> str:
    version = connection.scalar(text("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))
    return str(version) if version else "without TLS"


def _of_several(url: str, connection: Connection) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """If the URL has several servers: how many answer, and what to do about those that do not."""
    options = connection_options(url, _BOUNDS)
    hosts, ports = str(options.get("host", "")).split(","), str(options.get("port", "")).split(",")
    if len(hosts) == 1:
        return (), ()
    alone = options | {"target_session_attrs": "any"}
    pairs = zip(hosts, ports if len(ports) > 1 else ports * len(hosts), strict=True)
    count = sum(_answers(alone | {"host": host} | ({"port": port} if port else {})) for host, port in pairs)
    names = str(connection.scalar(text("SHOW synchronous_standby_names")))
    standby = f"commits wait for {names}" if names else "commits wait for no standby"
    cures = (*(() if names else (_NO_STANDBY,)), *(() if count == len(hosts) else (_ONE_IS_GONE,)))
    return (f"{count} of {len(hosts)} hosts answer", standby), cures


def _answers(options: dict[str, Any]) -> bool:
    try:
        psycopg.connect("", **options).close()
    except psycopg.OperationalError:
        return False
    return True


def _one_server(client: redis.Redis) -> tuple[redis.Redis, tuple[str, ...]]:
    """The server, or one of a cluster's servers."""
    cluster = cast(object, client)
    if not isinstance(cluster, RedisCluster):
        return client, ()
    known: Any = cluster
    nodes = known.get_primaries()
    remark = f"{len(nodes)} primaries and {len(known.get_replicas())} replicas"
    return cast(redis.Redis, known.get_redis_connection(nodes[0])), (remark,)


def _sentinels(url: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How many sentinels know the master, and what to do about those that do not."""
    if not url.startswith(("redis+sentinel:", "rediss+sentinel:")):
        return (), ()
    address = cache_address(url)
    asked = sentinels(address, ANSWER_WITHIN_S)
    try:
        count = sum(_knows(sentinel, address.master) for sentinel in asked.sentinels)
    finally:
        asked.close()
    cure = f"Restart the sentinels that do not answer, or that do not know {address.master}."
    cures = () if count == len(address.nodes) else (cure,)
    return (f"{count} of {len(address.nodes)} sentinels know it",), cures


def _knows(sentinel: redis.Redis, master: str) -> bool:
    try:
        return bool(sentinel.sentinel_master(master))
    except redis.RedisError:
        return False


def _info(client: redis.Redis) -> dict[str, Any]:
    # A login that may read and write keys need not be allowed to inspect the server.
    found: dict[str, Any] = {}
    for section in ("server", "memory"):
        with suppress(redis.ResponseError):
            found |= client.info(section)
    return found


def _compared(now: Callable[[], datetime], clock: Clock) -> tuple[float, float]:
    """The shortest of some round trips, and how far the other clock was ahead in the middle of it."""
    rounds = []
    for _ in range(ROUNDS):
        began_ms, before = clock.elapsed_ms(), clock.now()
        there = now()
        after, ended_ms = clock.now(), clock.elapsed_ms()
        ahead = there - (before + (after - before) / 2)
        rounds.append((float(ended_ms - began_ms), ahead / timedelta(milliseconds=1)))
    return min(rounds)
