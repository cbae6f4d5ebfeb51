"""Bounds how many calls are served at once. gRPC has a thread for each, and no bound of its own."""

from __future__ import annotations

import threading
from collections import Counter

from api.flight.wire.flight_errors import FlightBusy


class CallPlaces:
    """Places for calls. Each caller may have a part of them. Any thread may call any method."""

    def __init__(self, size: int, size_per_caller: int) -> None:
        self.size = size
        self._size_per_caller = size_per_caller
        self._taken = 0
        self._by_caller: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """How many calls are served now."""
        return self._taken

    def take(self) -> None:
        """Takes a place for a call, whose caller is not known yet.

        Raises:
            FlightBusy: there is none.
        """
        with self._lock:
            if self._taken >= self.size:
                raise FlightBusy
            self._taken += 1

    def name(self, caller: str) -> None:
        """Counts a call that has a place for its caller.

        Raises:
            FlightBusy: the caller has as many calls as one may have.
        """
        with self._lock:
            if self._by_caller[caller] >= self._size_per_caller:
                raise FlightBusy(
                    f"You have {self._size_per_caller} calls of Arrow Flight SQL at once, and no caller may"
                    " have more. Try again later."
                )
            self._by_caller[caller] += 1

    def give_back(self, caller: str | None) -> None:
        """Gives a call's place back. `caller`: whom it was counted for; None: nobody."""
        with self._lock:
            self._taken -= 1
            if caller is not None:
                self._by_caller[caller] -= 1
                if not self._by_caller[caller]:
                    del self._by_caller[caller]
