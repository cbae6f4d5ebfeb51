"""The progress of streams, in numbers that name no stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.ingest.streams import StreamState


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """The progress of a running stream a moment ago.

    `has_nothing_to_do`: its source has answered, and has nothing left to read. `messages_behind` is None
    where the source does not count, or has not yet.
    """

    has_nothing_to_do: bool = False
    messages_behind: int | None = None


@dataclass(frozen=True, slots=True)
class StreamLag:
    """How long a stream has been behind, and how many messages it has not read.

    `messages` is None where the source does not count, or has not yet.
    """

    lag_ms: int
    messages: int | None = None


@dataclass(frozen=True, slots=True)
class StreamStanding:
    """The streams' progress; `by_state` counts those of all gateways.

    The other numbers are about the streams that this gateway runs or tries to run.
    """

    by_state: Mapping[StreamState, int]
    run_here: int = 0
    longest_lag_s: float = 0.0
    messages_behind: int = 0
