"""The client for a filter cache: one server, a server behind sentinels, or a cluster."""

from __future__ import annotations

import copy
from typing import Any, cast

import redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.retry import Retry
from redis.sentinel import Sentinel

from service.model.operations.cache_address import CacheAddress, CacheKind, cache_address

CONNECTIONS = 32
# A sentinel pool cannot wait for a free connection, so it may have more; there are few callers.
CONNECTIONS_WITHOUT_WAITING = 512

# The client has no types for these constructors.
_BlockingPool: Any = redis.BlockingConnectionPool
_Node: Any = ClusterNode
_Cluster: Any = RedisCluster


def cache_client(url: str, within_s: float) -> redis.Redis:
    """Returns a client that takes at most `within_s` for each step, and never retries.

    It does not connect yet, except to a cluster, whose nodes must report which of them holds which keys.

    Raises:
        redis.RedisError, RedisClusterException: no node of the cluster answers.
    """
    if url.startswith("unix://"):
        return redis.Redis.from_pool(_BlockingPool.from_url(url, **_pool(within_s), **_bounds(within_s)))
    address = cache_address(url)
    match address.kind:
        case CacheKind.SERVER:
            return _of_server(address, within_s)
        case CacheKind.SENTINEL:
            return _of_sentinels(address, within_s)
        case CacheKind.CLUSTER:
            return _of_cluster(address, within_s)


def ping(client: redis.Redis) -> None:
    """Checks that the cache answers; in a cluster, each node that takes keys.

    Raises:
        redis.RedisError, RedisClusterException: it does not answer.
    """
    if isinstance(cast(object, client), RedisCluster):
        client.ping(target_nodes=RedisCluster.PRIMARIES)
    else:
        client.ping()


def close(client: redis.Redis) -> None:
    """Closes all connections, also those to sentinels."""
    client.close()
    asked = getattr(getattr(client, "connection_pool", None), "sentinel_manager", None)
    if isinstance(asked, Sentinel):
        asked.close()


class SafeSentinel(Sentinel):
    """Sentinels for several threads. The one that answered last is asked first the next time."""

    def discover_master(self, service_name: str) -> tuple[str, int]:
        """See the base class, which swaps two entries of a list: concurrent swaps would lose a sentinel."""
        alone: Any = copy.copy(self)
        alone.sentinels = list(self.sentinels)
        found: tuple[str, int] = cast(Any, Sentinel).discover_master(alone, service_name)
        self.sentinels = alone.sentinels
        return found


_Sentinels: Any = SafeSentinel


def sentinels(address: CacheAddress, within_s: float) -> SafeSentinel:
    """Returns clients of the sentinels, which also connect to the master that these report."""
    # A sentinel gets less time than the server: several are asked one after the other.
    to_sentinels = _options(address, within_s / 2) | _credentials(
        address.sentinel_username, address.sentinel_password
    )
    to_master = _options(address, within_s) | _credentials(address.username, address.password)
    made: SafeSentinel = _Sentinels(address.nodes, sentinel_kwargs=to_sentinels, **to_master)
    return made


def _of_server(address: CacheAddress, within_s: float) -> redis.Redis:
    [(host, port)] = address.nodes
    pool = _BlockingPool(
        connection_class=redis.SSLConnection if address.is_tls else redis.Connection,
        host=host,
        port=port,
        db=address.database,
        **_pool(within_s)
        | _bounds(within_s)
        | dict(address.options)
        | _credentials(address.username, address.password),
    )
    return redis.Redis.from_pool(pool)


def _of_sentinels(address: CacheAddress, within_s: float) -> redis.Redis:
    most = address.options.get("max_connections", CONNECTIONS_WITHOUT_WAITING)
    asked: Any = sentinels(address, within_s)
    master: redis.Redis = asked.master_for(address.master, db=address.database, max_connections=most)
    return master


def _of_cluster(address: CacheAddress, within_s: float) -> redis.Redis:
    options = _options(address, within_s) | _credentials(address.username, address.password)
    # The cluster client has its own argument for it.
    retry = options.pop("retry")
    cluster = _Cluster(
        startup_nodes=[_Node(host, port) for host, port in address.nodes],
        # Keeps the configured names: the addresses that a cluster reports may belong to another pod later.
        dynamic_startup_nodes=False,
        retry=retry,
        max_connections=address.options.get("max_connections", CONNECTIONS_WITHOUT_WAITING),
        **options,
    )
    # It has all commands used here, each for keys of one slot; UNLINK and SCAN work for any keys.
    return cast(redis.Redis, cluster)


def _options(address: CacheAddress, within_s: float) -> dict[str, Any]:
    """Returns the URL's options without those of a pool: the URL does not choose the pool."""
    given = {
        name: value for name, value in address.options.items() if name not in ("max_connections", "timeout")
    }
    return _bounds(within_s) | given | ({"ssl": True} if address.is_tls else {})


def _bounds(within_s: float) -> dict[str, Any]:
    # No retry: a health check has one second, and without a filter a query is only slower.
    return {
        "socket_connect_timeout": within_s,
        "socket_timeout": within_s,
        "retry": Retry(NoBackoff(), 0),
    }


def _pool(within_s: float) -> dict[str, Any]:
    return {"timeout": within_s, "max_connections": CONNECTIONS}


def _credentials(username: str | None, password: str | None) -> dict[str, Any]:
    given = {"username": username, "password": password}
    return {name: value for name, value in given.items() if value is not None}
