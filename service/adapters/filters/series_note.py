"""A note on the latest keys of a series: their address, and the snapshots that they are of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.tables.tables import TableName


@dataclass(frozen=True, slots=True)
class SeriesNote:
    """The fingerprint of keys, and the snapshot of each table that they come from."""

    fingerprint: str
    snapshots: Mapping[TableName, int]


def note_on(wanted: DynamicFilter) -> bytes:
    """Returns the note on a filter's keys as it is stored; an empty one if they may not be carried over.

    A later filter would not know which was which if a table is read at two snapshots.
    """
    snapshots = wanted.build.snapshots
    if snapshots is None:
        return b""
    return json.dumps([wanted.fingerprint, [[table.parts, at] for table, at in snapshots.items()]]).encode()


def read_note(stored: bytes | None) -> SeriesNote | None:
    """Returns a stored note; None if there is none, or it is something else.

    >>> read_note(b'["f", [[["lake", "shop", "days"], 7]]]').snapshots
    {TableName(catalog='lake', schema='shop', table='days'): 7}
    >>> read_note(b"7"), read_note(None)
    (None, None)
    """
    try:
        fingerprint, pairs = json.loads(stored or b"null")
        return SeriesNote(str(fingerprint), {TableName(*parts): int(number) for parts, number in pairs})
    except (ValueError, TypeError):
        return None
