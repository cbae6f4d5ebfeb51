"""Reads the progress of queries from the JVM, without blocking callers if it does not answer."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

import structlog
from cachetools import LRUCache
from py4j.protocol import Py4JJavaError

from service.model.query.progress import EngineProgress
from spark_session.java.jvm import UNREACHABLE
from spark_session.results.engine_progress import engine_progress

log = structlog.get_logger(__name__)

FRESH_S = 0.25
"""Counters that are not older are returned as they are."""
WAIT_S = 0.2
"""How long a caller waits for newer ones."""
KNOWN = 1_000
ENDED_AT_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Known:
    progress: EngineProgress | None
    at_s: float


class ProgressReader:
    """Asks the JVM for all wanted queries in one call, in a thread of its own. Others get the last answer.

    `read` gets ids, separated by commas, and returns the JSON of `QueryProgress.java`; `forget` drops their
    counters.
    """

    def __init__(
        self,
        read: Callable[[str], object],
        forget: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._forget = forget
        self._clock = clock
        self._changed = threading.Condition()
        self._wanted: set[UUID] = set()
        self._known: LRUCache[UUID, _Known] = LRUCache(KNOWN)
        self._ended: set[UUID] = set()
        self._asked_s: float | None = None
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="engine-progress", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; a call that hangs ends with its JVM."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def latest(self, query_id: UUID) -> EngineProgress | None:
        """Returns the query's counters, the last known ones if the JVM does not answer at once."""
        with self._changed:
            before = self._known.get(query_id)
            if before is not None and self._clock() - before.at_s < FRESH_S:
                return before.progress
            if not self._is_stopped and not self._is_late():
                self._wanted.add(query_id)
                self._changed.notify_all()
                self._changed.wait_for(
                    lambda: self._is_stopped or self._known.get(query_id) is not before, WAIT_S
                )
            known = self._known.get(query_id)
            return None if known is None else known.progress

    def note_begin(self, query_id: UUID) -> None:
        """Notes that the query runs, perhaps again: its counters are kept."""
        with self._changed:
            self._ended.discard(query_id)

    def note_end(self, query_id: UUID) -> None:
        """Notes that the query no longer runs. Costs no call: `forget_ended` makes one for all of them."""
        with self._changed:
            self._known.pop(query_id, None)
            self._wanted.discard(query_id)
            # If the JVM hangs, it drops the oldest counters on its own.
            if len(self._ended) < ENDED_AT_MOST:
                self._ended.add(query_id)

    def forget_ended(self) -> None:
        """Drops the counters of ended queries. Call it regularly, in a thread that may hang with the JVM."""
        with self._changed:
            ended, self._ended = self._ended, set()
        if ended:
            try:
                self._forget(",".join(map(str, ended)))
            except (Py4JJavaError, *UNREACHABLE) as failure:
                log.info("progress_not_forgotten", error=type(failure).__name__)

    def _is_late(self) -> bool:
        return self._asked_s is not None and self._clock() - self._asked_s > WAIT_S

    def _run(self) -> None:
        while (wanted := self._next()) is not None:
            found = self._answer(wanted)
            with self._changed:
                self._asked_s = None
                now_s = self._clock()
                for query_id in wanted:
                    self._known[query_id] = _Known(found.get(str(query_id)), now_s)
                self._changed.notify_all()

    def _next(self) -> set[UUID] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._wanted or self._is_stopped)
            if self._is_stopped:
                return None
            wanted, self._wanted = self._wanted, set()
            self._asked_s = self._clock()
            return wanted

    def _answer(self, wanted: set[UUID]) -> Mapping[str, EngineProgress]:
        try:
            return engine_progress(str(self._read(",".join(map(str, wanted)))))
        except (Py4JJavaError, json.JSONDecodeError, *UNREACHABLE) as failure:
            # A dead JVM runs nothing that could progress.
            log.info("progress_not_read", error=type(failure).__name__)
            return {}
