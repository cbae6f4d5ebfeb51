"""Keys on the server: found there, awaited, or collected by the one replica whose turn it is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_result,
    stop_before_delay,
    wait_exponential,
    wait_random,
)

from service.adapters.filters.cache_server import FilterServer
from service.adapters.filters.codec import StoredKeys, decode, encode
from service.adapters.filters.entry_head import Rubbish
from service.adapters.filters.key_types import Uncacheable
from service.adapters.filters.lease import Lease
from service.adapters.filters.series_note import SeriesNote, note_on, read_note
from service.errors.query_errors import FilterCollectionTimedOut
from service.errors.unavailable import FilterCacheDown
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_set import DynamicFilteringData
from service.ports.clock import Clock

FIRST_PAUSE_S = 0.01
LONGEST_PAUSE_S = 0.2


@dataclass(frozen=True, slots=True)
class FoundKeys:
    """Keys, whether they were collected now, and why the cache could not be used, if so."""

    keys: StoredKeys
    is_collected: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Turn:
    """The turn to collect: under a lease, or without a server through which keys could be shared."""

    lease: Lease | None
    note: str


class SharedKeys:
    """Stores collected keys, unless they are too large. A failing server only leaves a note.

    It is not a `SingleFlight`, which shares outcomes in one process: here replicas share only stored keys,
    poll for them, and take over from a collector whose lease has expired.
    """

    def __init__(self, server: FilterServer, clock: Clock, time_to_live: timedelta, value_bytes: int) -> None:
        self._server = server
        self._clock = clock
        self._time_to_live = time_to_live
        self._value_bytes = value_bytes

    def find(self, wanted: DynamicFilter) -> tuple[StoredKeys | None, str]:
        """Returns the keys from the server, if they are there, and why the cache could not be used, if so."""
        try:
            return self._read(wanted)
        except FilterCacheDown as down:
            return None, down.detail

    def latest(self, wanted: DynamicFilter) -> SeriesNote | None:
        """Returns the note on the latest stored keys of the series; None also if the server fails."""
        try:
            return read_note(self._server.latest(wanted.series)) if wanted.series else None
        except FilterCacheDown:
            return None

    def find_or_collect(
        self, wanted: DynamicFilter, collect: Callable[[str], DynamicFilteringData], within_s: float
    ) -> FoundKeys:
        """Returns the keys from the server once they are there, or else from `collect`.

        `collect` receives the reason why the cache could not be used.

        Raises:
            Exception: whatever `collect` raised.
            FilterCollectionTimedOut: another replica collects, and was not done in time.
        """
        found = self._stored_or_turn(wanted, within_s)
        if isinstance(found, StoredKeys):
            return FoundKeys(found)
        with found.lease.renewed() if found.lease else nullcontext():
            return self._store(wanted, collect(found.note), found)

    def _stored_or_turn(self, wanted: DynamicFilter, within_s: float) -> StoredKeys | _Turn:
        looking = Retrying(
            retry=retry_if_result(lambda found: found is None),
            wait=wait_exponential(FIRST_PAUSE_S, LONGEST_PAUSE_S, exp_base=1.5)
            + wait_random(0, FIRST_PAUSE_S),
            stop=stop_before_delay(within_s),
            retry_error_callback=_time_is_up,
        )
        try:
            found = looking(self._look, wanted)
        except FilterCacheDown as down:
            return _Turn(None, down.detail)
        assert found is not None, "looking goes on until there is something"
        return found

    def _look(self, wanted: DynamicFilter) -> StoredKeys | _Turn | None:
        """Returns the stored keys, or the turn to collect them; None while another replica collects."""
        found, _ = self._read(wanted)
        if found is not None:
            return found
        lease = self._server.claim(wanted.fingerprint)
        if lease is None:
            return None
        # Between the read and the claim, another replica may have stored the keys and released its lease.
        found, note = self._read(wanted)
        if found is None:
            return _Turn(lease, note)
        lease.release()
        return found

    def _read(self, wanted: DynamicFilter) -> tuple[StoredKeys | None, str]:
        value = self._server.read(wanted.fingerprint)
        if value is None:
            return None, ""
        try:
            keys = decode(value, wanted)
        except Rubbish:
            return None, "What lay in the filter cache could not be read."
        # The server expires keys by its own clock, perhaps a little later.
        return (keys if keys.expires_at > self._clock.now() else None), ""

    def _store(self, wanted: DynamicFilter, data: DynamicFilteringData, turn: _Turn) -> FoundKeys:
        now = self._clock.now()
        try:
            value, keys = encode(wanted, data, now, self._time_to_live)
        except Uncacheable as reason:
            unstored = StoredKeys(data, 0, now + self._time_to_live)
            return FoundKeys(unstored, is_collected=True, note=str(reason))
        note = turn.note if turn.lease is None else self._write(wanted, value, now) or turn.note
        return FoundKeys(keys, is_collected=True, note=note)

    def _write(self, wanted: DynamicFilter, value: bytes, at: datetime) -> str:
        """Returns why it was not stored; an empty string if it was."""
        if len(value) > self._value_bytes:
            return "The keys are larger than the filter cache takes."
        try:
            latest_of = (wanted.series, note_on(wanted)) if wanted.series else None
            self._server.write(wanted.fingerprint, value, at, self._time_to_live, latest_of)
        except FilterCacheDown as down:
            return down.detail
        return ""


def _time_is_up(_: RetryCallState) -> StoredKeys:
    raise FilterCollectionTimedOut
