"""The tables that key sets were collected from lately, and the texts that asked for these sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from service.errors.unavailable import MetricsStoreDown
from service.model.query.history import FilteringQuery, FrequentQuery
from service.model.tables.tables import TableName
from service.ports.clock import Clock
from service.ports.stores.query_store import QueryHistory

log = structlog.get_logger(__name__)

ASKED_AT_LEAST = 2
"""A set that was asked for once may never be asked for again."""
LISTED_PER_SET = 4
"""Texts take places, too, whose sets are not collected, for example for lack of values."""
MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequentBounds:
    """From which time queries count, how many tables are watched, and how many sets of each are collected.

    Records are read again after `read_every_ms`.
    """

    history: timedelta
    tables: int
    sets_per_table: int
    read_every_ms: int = 300_000


class FrequentSets:
    """Reads the records of queries once in a while. For one thread at a time."""

    def __init__(self, history: QueryHistory, clock: Clock, bounds: FrequentBounds) -> None:
        self._history = history
        self._clock = clock
        self._bounds = bounds
        self._read_ms: int | None = None
        self._texts: Mapping[TableName, Sequence[FrequentQuery]] = {}

    def texts(self) -> Mapping[TableName, Sequence[FrequentQuery]]:
        """Returns the texts by table, the most frequent first; the last known ones if the store is down."""
        now_ms = self._clock.elapsed_ms()
        if self._read_ms is None or now_ms - self._read_ms >= self._bounds.read_every_ms:
            # Also after a failure: the store may be slow because it has too much to do.
            self._read_ms = now_ms
            try:
                self._texts = self._read()
            except MetricsStoreDown as down:
                log.info("frequent_sets_not_read", reason=down.detail)
        return self._texts

    def _read(self) -> Mapping[TableName, Sequence[FrequentQuery]]:
        bounds = self._bounds
        limit = min(MAX_LISTED, bounds.tables * bounds.sets_per_table * LISTED_PER_SET)
        since = self._clock.now() - bounds.history
        return by_table(self._history.filtering(since, limit, ASKED_AT_LEAST), bounds.tables)


def by_table(listed: Sequence[FilteringQuery], at_most: int) -> Mapping[TableName, Sequence[FrequentQuery]]:
    """Returns the texts of each table, of at most so many tables, in the order of the list."""
    found: dict[TableName, dict[FrequentQuery, None]] = {}
    for each in listed:
        for name in map(TableName.of, each.tables):
            if name in found or len(found) < at_most:
                found.setdefault(name, {})[each.query] = None
    return {name: tuple(texts) for name, texts in found.items()}
