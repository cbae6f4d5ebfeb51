"""Kept rows in memory, which can be taken down."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from service.model.filters.key_selection import KeptNote


class FakeKeptRows:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.is_down = False
        self.asked = 0
        self._notes: dict[str, list[KeptNote]] = {}
        self._rows: dict[str, tuple[KeptNote, pa.Table]] = {}

    def notes(self, family: str) -> Sequence[KeptNote]:
        self.asked += 1
        return () if self.is_down else tuple(self._notes.get(family, ()))

    def rows(self, family: str, note: KeptNote) -> pa.Table | None:
        self.asked += 1
        if self.is_down:
            return None
        found, rows = self._rows.get(note.fingerprint, (None, None))
        if found != note:
            self._notes[family] = [each for each in self._notes.get(family, ()) if each != note]
            return None
        return rows

    def keep(self, family: str, note: KeptNote, rows: pa.Table, at_most: int) -> None:
        if self.is_down:
            return
        others = [each for each in self._notes.get(family, ()) if each != note]
        self._notes[family] = stay = [note, *others][:at_most]
        self._rows[note.fingerprint] = (note, rows)
        for gone in {each.fingerprint for each in others} - {each.fingerprint for each in stay}:
            self._rows.pop(gone, None)

    def forget(self, fingerprint: str | None) -> None:
        for name in [name for name in self._rows if fingerprint in (None, name)]:
            del self._rows[name]
        if fingerprint is None:
            self._notes.clear()
