"""Suggests names of tables for one that no table has, from listings of the catalogs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from service.adapters.catalogs.answers_in_time import answers_in_time
from service.adapters.catalogs.nearest_names import nearest_names
from service.ports.clock import Clock
from service.single_flight import SingleFlight

_LISTING_MAX_AGE_MS = 5_000


class NameSuggestions:
    """Suggests names. Thread-safe.

    `full_names` lists a catalog. A listing is cached for a few seconds, so that a burst of typing errors asks
    each catalog once.
    """

    def __init__(self, full_names: Callable[[str], tuple[str, ...]], clock: Clock, within_s: float) -> None:
        self._full_names = full_names
        self._clock = clock
        self._within_s = within_s
        self._listings: SingleFlight[str, tuple[str, ...]] = SingleFlight()
        self._cached: dict[str, tuple[int, tuple[str, ...]]] = {}

    def nearest(self, dotted: str, catalogs: Iterable[str]) -> Sequence[str]:
        """At most three full names in these catalogs most similar to this one; empty if none answers."""
        now_ms = self._clock.elapsed_ms()
        due = [name for name in catalogs if self._is_due(name, now_ms)]
        listed = answers_in_time(self._listings, self._full_names, due, self._within_s)
        for name in due:
            # If a catalog does not answer, its last listing is better than nothing.
            _, before = self._cached.get(name, (0, ()))
            self._cached[name] = (now_ms, listed.get(name, before))
        return nearest_names(dotted, (name for _, names in list(self._cached.values()) for name in names))

    def _is_due(self, name: str, now_ms: int) -> bool:
        return name not in self._cached or now_ms - self._cached[name][0] >= _LISTING_MAX_AGE_MS
