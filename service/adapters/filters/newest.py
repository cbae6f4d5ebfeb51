"""Which values were stored last: an index beside them, so that a list does not walk all keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count

import redis
from redis.client import Pipeline

NEWEST = "sluice:filter-newest:1"
INDEXED = 10_000
"""Of so many values that were stored last, those that are there still can be listed."""
LISTED_AT_ONCE = 100


class NewestValues:
    """Names are added, and make room; those of values that are gone are left to that."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, pipeline: Pipeline, fingerprint: str, at: datetime, time_to_live: timedelta) -> None:
        """Appends to the pipeline what notes that this value was stored."""
        pipeline.zadd(NEWEST, {fingerprint: at.timestamp()})
        pipeline.zremrangebyrank(NEWEST, 0, -INDEXED - 1)
        pipeline.pexpire(NEWEST, time_to_live)

    def mend(self, answers: Sequence[object]) -> None:
        """After the pipeline has run: whatever else lies under the index's name is taken away."""
        if any(isinstance(each, redis.ResponseError) and is_of_another_type(each) for each in answers):
            self._client.unlink(NEWEST)

    def fingerprints(self) -> Iterator[Sequence[str]]:
        """All that are indexed, the newest first, some at a time."""
        for start in count(step=LISTED_AT_ONCE):
            found = self._from(start)
            if not found:
                return
            yield [each.decode(errors="replace") for each in found]

    def _from(self, start: int) -> Sequence[bytes]:
        try:
            found = self._client.zrevrange(NEWEST, start, start + LISTED_AT_ONCE - 1)
            return [each for each in found if isinstance(each, bytes)]
        except redis.ResponseError as refusal:
            if not is_of_another_type(refusal):
                raise
            return []


def is_of_another_type(refusal: redis.ResponseError) -> bool:
    """Whether something else lies under the name."""
    return str(refusal).startswith("WRONGTYPE")
