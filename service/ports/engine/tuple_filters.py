"""Keys of several columns by which the engine chooses the files of a scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from service.model.filters.key_set import Key
from service.model.tables.tables import TableName


@dataclass(frozen=True, slots=True)
class TupleFilter:
    """A filter whose keys the engine may compare with the files of a scan, besides what the text says.

    The statement names the table once, and reads it at this snapshot. It needs no row of it without one of
    the `keys` in these columns, which have these types of Iceberg. `fingerprint` is the address of the keys.
    """

    filter_id: str
    table: TableName
    snapshot_id: int
    columns: tuple[str, ...]
    type_names: tuple[str, ...]
    fingerprint: str
    keys: Sequence[Key] = field(repr=False)
