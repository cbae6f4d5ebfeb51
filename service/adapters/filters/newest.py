"""An index of the values stored last, so that listing them does not scan all keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count

import redis
from redis.client import Pipeline

NEWEST = "sluice:filter-newest:1"
INDEXED = 10_000
"""Only this many of the values stored last can be listed, and only if they still exist."""
LISTED_AT_ONCE = 100


class NewestValues:
    """An index of names. New names evict the oldest; names of values that are gone stay until then."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, pipeline: Pipeline, fingerprint: str, at: datetime, time_to_live: timedelta) -> None:
        """Appends to the pipeline the commands that record this value as stored."""
        pipeline.zadd(NEWEST, {fingerprint: at.timestamp()})
        pipeline.zremrangebyrank(NEWEST, 0, -INDEXED - 1)
        pipeline.pexpire(NEWEST, time_to_live)

    def mend(self, answers: Sequence[object]) -> None:
        """After the pipeline has run: removes a key of another type that has the index's name."""
        if any(isinstance(answer, redis.ResponseError) and is_of_another_type(answer) for answer in answers):
            self._client.unlink(NEWEST)

    def fingerprints(self) -> Iterator[Sequence[str]]:
        """Yields all indexed fingerprints, the newest first, some at a time."""
        for start in count(step=LISTED_AT_ONCE):
            found = self._from(start)
            if not found:
                return
            yield [key.decode(errors="replace") for key in found]

    def _from(self, start: int) -> Sequence[bytes]:
        try:
            found = self._client.zrevrange(NEWEST, start, start + LISTED_AT_ONCE - 1)
            return [key for key in found if isinstance(key, bytes)]
        except redis.ResponseError as refusal:
            if not is_of_another_type(refusal):
                raise
            return []


def is_of_another_type(refusal: redis.ResponseError) -> bool:
    """Whether a key of another type has the name."""
    return str(refusal).startswith("WRONGTYPE")
