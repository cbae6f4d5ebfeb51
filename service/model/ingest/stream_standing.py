"""How far streams are behind, in numbers that name none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.ingest.streams import StreamState


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """How a stream that runs was doing a moment ago.

    `has_nothing_to_do`: its source has answered, and has nothing that is not read. `messages_behind` is
    None where the source does not count, or has not yet.
    """

    has_nothing_to_do: bool = False
    messages_behind: int | None = None


@dataclass(frozen=True, slots=True)
class StreamStanding:
    """`by_state` is about all gateways, the rest about the streams that this one runs or tries to."""

    by_state: Mapping[StreamState, int]
    run_here: int = 0
    longest_lag_s: float = 0.0
    messages_behind: int = 0
