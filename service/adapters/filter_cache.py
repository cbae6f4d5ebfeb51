"""The filter cache on a Redis-protocol server."""

from __future__ import annotations

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.model.health import PartHealth, PartState

NAME = "filterCache"
ANSWER_WITHIN_S = 0.4


class RedisFilterCache:
    """The `FilterCache` port."""

    def __init__(self, url: str) -> None:
        # No retry: health has a second, and a filter that is not there is only a slower query.
        self._client = redis.Redis.from_url(
            url,
            socket_connect_timeout=ANSWER_WITHIN_S,
            socket_timeout=ANSWER_WITHIN_S,
            max_connections=32,
            retry=Retry(NoBackoff(), 0),
        )

    def health(self) -> PartHealth:
        """Asks the server, within a second."""
        try:
            self._client.ping()
        except redis.AuthenticationError:
            return PartHealth(NAME, PartState.DOWN, "The filter cache refuses the password.")
        except (redis.RedisError, OSError):
            return PartHealth(NAME, PartState.DOWN, "The filter cache does not answer.")
        return PartHealth(NAME, PartState.UP)

    def close(self) -> None:
        """Closes all connections."""
        self._client.close()
