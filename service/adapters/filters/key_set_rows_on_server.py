"""Kept rows on the Redis-protocol server that also has the keys."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

import pyarrow as pa

from service.adapters.filters.cache_server import FilterServer
from service.adapters.filters.kept_notes import decoded_note, encoded_note
from service.adapters.filters.key_set_rows import decoded_rows, encoded_rows
from service.errors.unavailable import FilterCacheDown
from service.model.filters.key_selection import KeptNote


class KeptRowsOnServer:
    """The `KeptRows` port. The notes of a family are a list; their rows have addresses of their own."""

    def __init__(self, server: FilterServer, time_to_live: timedelta, value_bytes: int) -> None:
        self._server = server
        self._time_to_live = time_to_live
        self._value_bytes = value_bytes

    def notes(self, family: str) -> Sequence[KeptNote]:
        """See the port."""
        try:
            stored = self._server.kept_notes(family)
        except FilterCacheDown:
            return ()
        return [note for note in map(decoded_note, stored) if note is not None]

    def rows(self, family: str, note: KeptNote) -> pa.Table | None:
        """See the port."""
        try:
            value = self._server.kept_rows(note.fingerprint)
            found = None if value is None else decoded_rows(note, value)
            if found is None:
                self._server.delete_note(family, encoded_note(note) or b"")
        except FilterCacheDown:
            return None
        return found

    def keep(self, family: str, note: KeptNote, rows: pa.Table, at_most: int) -> None:
        """See the port."""
        stored, value = encoded_note(note), encoded_rows(note, rows)
        if stored is None or len(value) > self._value_bytes:
            return
        with suppress(FilterCacheDown):
            found = self._server.keep(family, stored, note.fingerprint, value, self._time_to_live, at_most)
            notes = list(map(decoded_note, found))
            newest, oldest = _fingerprints(notes[:at_most]), _fingerprints(notes[at_most:])
            # No note names these rows any more, and a table that is written often would leave many.
            for fingerprint in oldest - newest:
                self._server.delete_kept(fingerprint)


def _fingerprints(notes: Sequence[KeptNote | None]) -> set[str]:
    return {note.fingerprint for note in notes if note is not None}
