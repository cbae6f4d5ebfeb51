"""The client for a filter cache that is one server, or behind sentinels, or a cluster."""

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
# A pool of sentinels' cannot wait for a connection that is free: it has more, and the callers are few.
CONNECTIONS_WITHOUT_WAITING = 512

# The client has no types for what makes these.
_BlockingPool: Any = redis.BlockingConnectionPool
_Node: Any = ClusterNode
_Cluster: Any = RedisCluster


def cache_client(url: str, within_s: float) -> redis.Redis:
    """A client whose every step takes `within_s` at most, and that tries nothing twice.

    Nothing is asked yet, but of a cluster: its nodes say who has which keys.

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
    """Asks whether it answers; of a cluster, each node that takes keys.

    Raises:
        redis.RedisError, RedisClusterException: it does not.
    """
    if isinstance(cast(object, client), RedisCluster):
        client.ping(target_nodes=RedisCluster.PRIMARIES)
    else:
        client.ping()


def close(client: redis.Redis) -> None:
    """Closes all connections, those to sentinels too."""
    client.close()
    asked = getattr(getattr(client, "connection_pool", None), "sentinel_manager", None)
    if isinstance(asked, Sentinel):
        asked.close()


class SafeSentinel(Sentinel):
    """Sentinels that several threads may ask: the one that answered is asked first the next time."""

    def discover_master(self, service_name: str) -> tuple[str, int]:
        """See there. It swaps two places of a list, in which threads that do so at once lose a sentinel."""
        alone: Any = copy.copy(self)
        alone.sentinels = list(self.sentinels)
        found: tuple[str, int] = cast(Any, Sentinel).discover_master(alone, service_name)
        self.sentinels = alone.sentinels
        return found


_Sentinels: Any = SafeSentinel


def sentinels(address: CacheAddress, within_s: float) -> SafeSentinel:
    """Clients of the sentinels, and of what they say is the master."""
    # No sentinel may cost what the server may: several are asked, one after the other.
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
    # It takes its own.
    retry = options.pop("retry")
    cluster = _Cluster(
        startup_nodes=[_Node(host, port) for host, port in address.nodes],
        # Their names stay, where the addresses that a cluster tells may be another pod's after a while.
        dynamic_startup_nodes=False,
        retry=retry,
        max_connections=address.options.get("max_connections", CONNECTIONS_WITHOUT_WAITING),
        **options,
    )
    # It has all commands that are used here, each for keys of one slot; UNLINK and SCAN for any.
    return cast(redis.Redis, cluster)


def _options(address: CacheAddress, within_s: float) -> dict[str, Any]:
    """Without those of a pool: which one there is, is not the URL's to say."""
    given = {
        name: value for name, value in address.options.items() if name not in ("max_connections", "timeout")
    }
    return _bounds(within_s) | given | ({"ssl": True} if address.is_tls else {})


def _bounds(within_s: float) -> dict[str, Any]:
    # No retry: health has a second, and a filter that is not there is only a slower query.
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
