"""The steps that are shown, and the protocol of a display."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sluice_client.query.query_answer import Manifest, QueryStatus
from sluice_client.query.queue_place import QueuePlace


@dataclass(frozen=True, slots=True)
class Step:
    """How far a query is. `total` is 0 as long as nobody knows it."""

    text: str
    done: int = 0
    total: int = 0


class Progress(Protocol):
    """Shows steps. It never fails a query."""

    def show(self, step: Step) -> None:
        """Replaces the step that is shown."""

    def close(self) -> None:
        """Removes what is shown. Closing twice is fine."""


class Silent:
    """Shows nothing."""

    def show(self, step: Step) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def waiting(status: QueryStatus) -> Step:
    """Returns the step of a query that has not ended."""
    text = f"{status.state.lower()} for {status.elapsed_ms / 1000:.0f} s"
    live = status.live
    if status.queue is not None:
        text += _place(status.queue)
    if live.percent is None:
        return Step(text)
    return Step(f"{text}, {live.percent:.0f} %", round(live.percent), 100)


def _place(queue: QueuePlace) -> str:
    if queue.position == 0:
        return ", being planned"
    wait_ms = queue.estimated_wait_ms
    wait = "" if wait_ms is None else f", about {wait_ms / 1000:,.0f} s to wait"
    return f", place {queue.position} in the queue{wait}"


def reading(chunks_read: int, manifest: Manifest) -> Step:
    """Returns the step of a result that is being read."""
    return Step(f"reading {manifest.row_count:,} rows", chunks_read, manifest.chunk_count)


def bar(step: Step, width: int = 20) -> str:
    """Returns a step as one line of plain text.

    >>> bar(Step("reading 100 rows", 1, 2), width=4)
    '[##  ] reading 100 rows'
    >>> bar(Step("running for 3 s"))
    'running for 3 s'
    """
    if step.total < 1:
        return step.text
    filled = width * min(step.done, step.total) // step.total
    return f"[{'#' * filled}{' ' * (width - filled)}] {step.text}"
