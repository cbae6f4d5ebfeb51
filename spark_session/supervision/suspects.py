"""Remembers texts that may have killed an engine, and whether they may run again.

ADR 28 has the reasons. A text is a caller's own text, by its fingerprint.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from math import ceil

from cachetools import LRUCache, TTLCache

from service.errors.query_errors import QueryQuarantined
from service.errors.unavailable import EngineLost
from spark_session.java.calls import Calls

DEATHS_TO_QUARANTINE = 2
TEXTS_KNOWN = 10_000
LOOK_AROUND_S = 0.2
# A killer kills within seconds; when a suspect has run for longer, the next one may begin.
TRIAL_S = 15.0


class Suspects:
    """Remembers texts for `quarantine_s` after they ran while an engine was lost. For several threads."""

    def __init__(self, quarantine_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._quarantine_s = quarantine_s
        self._changed = threading.Condition()
        self._noting = threading.Lock()
        self._losses: TTLCache[str, int] = TTLCache(TEXTS_KNOWN, quarantine_s, clock)
        self._alone: TTLCache[str, bool] = TTLCache(TEXTS_KNOWN, quarantine_s, clock)
        self._until_s: TTLCache[str, float] = TTLCache(TEXTS_KNOWN, quarantine_s, clock)
        self._harmless: LRUCache[str, bool] = LRUCache(TEXTS_KNOWN)
        self._trials: dict[int, float] = {}

    def check(self, text: str) -> None:
        """Checks that the text may run.

        Raises:
            QueryQuarantined: it is not run for a while.
        """
        with self._changed:
            until_s = self._until_s.get(text)
        if until_s is not None:
            left_s = max(ceil(until_s - self._clock()), 1)
            raise QueryQuarantined(
                "Queries of this text were running when the engine was lost, or had to be replaced. It is not"
                f" run for {left_s} s. Change it: it takes too much memory, or computes without end.",
                left_s,
            )

    def check_rehearsal(self, text: str) -> None:
        """Checks that the text may run for no caller: it did not run while an engine was lost.

        Raises:
            QueryQuarantined: it did.
        """
        self.check(text)
        with self._changed:
            is_suspect = text in self._losses
        if is_suspect:
            raise QueryQuarantined(
                "Queries of this text were running when the engine was lost. It is not run ahead of callers.",
                ceil(self._quarantine_s),
            )

    def of_loss(self, text: str) -> EngineLost:
        """Returns the error for a query of this text whose engine was lost."""
        with self._changed:
            is_quarantined = text in self._until_s
            may_run_again = text not in self._alone or text in self._harmless
        if is_quarantined:
            return EngineLost(
                "The engine was lost while this query ran, and so was one before. It is not run again for"
                " now, as it may be why.",
                may_run_again=False,
            )
        if not may_run_again:
            return EngineLost(
                "The engine was lost while this query ran, and nothing else did. It is not run again by"
                " itself, as it may be why. Send it again if it is not.",
                may_run_again=False,
            )
        return EngineLost()

    def note_success(self, text: str) -> None:
        """Notes that the text ran to its end: it is known to be harmless."""
        with self._changed:
            self._harmless[text] = True
            self._losses.pop(text, None)
            self._alone.pop(text, None)

    def note_loss_of(self, calls: Calls, culprits: Collection[str] | None = None) -> None:
        """Notes the loss of an engine with its open calls, as `note_loss` does, but once for all threads.

        Whichever thread comes first: when this returns, the loss is noted, and `of_loss` knows it.
        """
        with self._noting:
            lost = calls.lose()
            if lost is not None:
                queries = [call.text for call in lost if not call.is_background]
                self.note_loss(queries, culprits, [call.text for call in lost if call.is_background])

    def note_loss(
        self,
        queries: Collection[str],
        culprits: Collection[str] | None = None,
        background: Collection[str] = (),
    ) -> None:
        """Notes that an engine was lost while these texts ran; only `culprits` are to blame, if given.

        Reads in the background are bounded, so a query beside which nothing else runs is alone.
        """
        with self._changed:
            for text in culprits or ():
                self._quarantine(text)
            for text in {*queries, *background} if culprits is None else ():
                self._losses[text] = losses = self._losses.get(text, 0) + 1
                if {text} == set(queries):
                    self._alone[text] = True
                if losses >= DEATHS_TO_QUARANTINE:
                    self._quarantine(text)

    @contextmanager
    def turn(self, text: str, is_canceled: Callable[[], bool]) -> Iterator[None]:
        """Runs the block; the block of a suspect waits while another suspect has just begun."""
        key = threading.get_ident()
        with self._changed:
            is_suspect = text in self._losses and text not in self._harmless
            while is_suspect and self._is_trial_on() and not is_canceled():
                self._changed.wait(LOOK_AROUND_S)
            if is_suspect:
                self._trials[key] = self._clock()
        try:
            yield
        finally:
            with self._changed:
                self._trials.pop(key, None)
                self._changed.notify_all()

    def _is_trial_on(self) -> bool:
        return any(self._clock() - began_s < TRIAL_S for began_s in self._trials.values())

    def _quarantine(self, text: str) -> None:
        self._until_s[text] = self._clock() + self._quarantine_s
        self._harmless.pop(text, None)
