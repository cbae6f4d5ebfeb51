"""The open calls into one JVM, of all threads."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cachetools import LRUCache

TAGS_KNOWN = 10_000
_TAG = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(eq=False, slots=True)
class Call:
    """One call. `text` identifies what it runs; times are seconds of the monotonic clock.

    `is_background`: the gateway makes it for later queries, and no caller waits for it.
    """

    text: str
    is_canceled: Callable[[], bool]
    is_background: bool = False
    canceled_s: float | None = None


class Calls:
    """Counts each call from its beginning to its end. Any thread may call any method."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: list[Call] = []
        self._is_lost = False
        self._texts: LRUCache[str, str] = LRUCache(TAGS_KNOWN)

    @contextmanager
    def under_way(
        self, text: str, is_canceled: Callable[[], bool], tag: str = "", is_background: bool = False
    ) -> Iterator[None]:
        """Counts the call for as long as the block runs; its jobs carry the tag."""
        call = Call(text, is_canceled, is_background)
        with self._lock:
            self._open.append(call)
            self._texts[tag] = text
        try:
            yield
        finally:
            with self._lock:
                self._open.remove(call)

    def open(self) -> Sequence[Call]:
        """Lists the open calls, the oldest first."""
        with self._lock:
            return tuple(self._open)

    def text_of(self, tags: str) -> str | None:
        """Returns the text of the call with one of these tags, even after its end; None if none is known."""
        with self._lock:
            known = (self._texts.get(tag) for tag in _TAG.findall(tags))
            return next((text for text in known if text is not None), None)

    @property
    def is_lost(self) -> bool:
        """Whether a thread has noticed that the JVM is lost, and noted it here."""
        return self._is_lost

    def lose(self) -> Sequence[Call] | None:
        """Marks the JVM as lost and returns the open calls; None for all but the first caller."""
        with self._lock:
            is_first, self._is_lost = not self._is_lost, True
            return tuple(self._open) if is_first else None

    def given_up(self, grace_s: float) -> Sequence[tuple[Call, float]]:
        """Lists calls still open `grace_s` after they were asked to end, with the seconds since then.

        A cancellation counts from the first call of this method after it, so call it often.
        """
        now_s = self._clock()
        late: list[tuple[Call, float]] = []
        for call in self.open():
            if not call.is_canceled():
                continue
            if call.canceled_s is None:
                call.canceled_s = now_s
            overdue_s = now_s - call.canceled_s - grace_s
            if overdue_s >= 0:
                late.append((call, overdue_s))
        return late
