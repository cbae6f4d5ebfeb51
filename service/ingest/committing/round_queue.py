"""The tables and branches for which a commit round is due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from service.ingest.committing.commit_pace import CommitPace
from service.model.ingest.writing import TableKey


class RoundQueue:
    """Keys in the order in which something began to wait for them; each key has one round at a time.

    A round is due at once, unless ingests of its key are still being written: then it waits for them, but no
    longer than the pace's interval. The queue uses no threads and no clock: every moment is passed in.
    """

    def __init__(self, pace: CommitPace) -> None:
        self._pace = pace
        self._latest_ms: dict[TableKey, int] = {}
        self._not_before_ms: dict[TableKey, int] = {}
        self._failures: Counter[TableKey] = Counter()
        self._expected: Counter[TableKey] = Counter()
        self._running: set[TableKey] = set()

    @property
    def key_count(self) -> int:
        """The number of keys that something waits for, or that are being committed to."""
        return len(self._latest_ms.keys() | self._running)

    def expect(self, keys: Iterable[TableKey]) -> None:
        """Notes that an ingest of these keys is being written."""
        self._expected.update(keys)

    def expect_no_more(self, keys: Iterable[TableKey]) -> None:
        """Notes that it is no longer being written, whether it waits now or failed."""
        self._expected -= Counter(keys)

    def put(self, key: TableKey, now_ms: int) -> None:
        """Notes that something waits for the key."""
        self._latest_ms.setdefault(key, now_ms + self._pace.interval_ms)

    def take(self, now_ms: int) -> TableKey | None:
        """Returns a key whose round is due, if any; it is reserved until `ended`, `pause` or `failed`."""
        due = next((key for key in self._latest_ms if self._due_in_ms(key, now_ms) == 0), None)
        if due is not None:
            del self._latest_ms[due]
            self._running.add(due)
        return due

    def ended(self, key: TableKey) -> None:
        """Notes that the round has ended successfully."""
        self._running.discard(key)
        self._failures.pop(key, None)
        self._not_before_ms.pop(key, None)

    def pause(self, key: TableKey, now_ms: int) -> None:
        """Notes that another replica has the round; it is requested again a little later."""
        self._running.discard(key)
        self._try_again(key, now_ms, self._pace.contended_pause_ms)

    def failed(self, key: TableKey, now_ms: int) -> None:
        """Notes that the round failed; it is tried again, with growing pauses."""
        self._running.discard(key)
        self._failures[key] += 1
        self._try_again(key, now_ms, self._pace.pause_ms(self._failures[key]))

    def due_in_ms(self, now_ms: int) -> int | None:
        """Returns the time until the next round is due, as far as is known now; None when nothing waits."""
        waiting = (self._due_in_ms(key, now_ms) for key in self._latest_ms)
        return min((deadline for deadline in waiting if deadline is not None), default=None)

    def _due_in_ms(self, key: TableKey, now_ms: int) -> int | None:
        if key in self._running:
            return None
        due_ms = self._latest_ms[key] if self._expected[key] else now_ms
        return max(0, max(due_ms, self._not_before_ms.get(key, now_ms)) - now_ms)

    def _try_again(self, key: TableKey, now_ms: int, pause_ms: int) -> None:
        self._not_before_ms[key] = now_ms + pause_ms
        self.put(key, now_ms)
