"""A stream's progress, from Spark's report on its query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from service.model.ingest.stream_standing import StreamProgress

# Spark's report on a query whose source has answered and has nothing more.
_IDLE = ("Waiting for data to arrive", "Waiting for next trigger")


def stream_progress(status: Mapping[str, Any], last: str | None) -> StreamProgress:
    """Builds the progress from a query's status, and the JSON of its last progress if there is one.

    >>> idle = {"message": "Waiting for next trigger", "isDataAvailable": False, "isTriggerActive": False}
    >>> stream_progress(idle, None)
    StreamProgress(has_nothing_to_do=True, messages_behind=None)
    """
    is_idle = status["message"] in _IDLE and not status["isDataAvailable"] and not status["isTriggerActive"]
    sources = [] if last is None else json.loads(last)["sources"]
    counted = [source for source in map(_messages_behind, sources) if source is not None]
    return StreamProgress(is_idle, sum(counted) if counted else None)


def _messages_behind(source: Mapping[str, Any]) -> int | None:
    """Returns Kafka's backlog; its offsets are numbers by a topic's partition. None for other sources.

    >>> _messages_behind({"latestOffset": {"clicks": {"0": 7, "1": 9}}, "endOffset": {"clicks": {"0": 5}}})
    11
    >>> _messages_behind({"latestOffset": None, "endOffset": {"logOffset": 3}}) is None
    True
    """
    newest, read = _offsets(source.get("latestOffset")), _offsets(source.get("endOffset"))
    if newest is None or read is None:
        return None
    return sum(max(offset - read.get(where, 0), 0) for where, offset in newest.items())


def _offsets(offset: object) -> dict[tuple[str, str], int] | None:
    """Returns the offsets by topic and partition; None if they are not Kafka's."""
    if not isinstance(offset, dict) or not all(
        isinstance(partitions, dict) for partitions in offset.values()
    ):
        return None
    return {
        (topic, partition): int(number)
        for topic, partitions in offset.items()
        for partition, number in partitions.items()
    }
