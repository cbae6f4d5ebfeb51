"""Filters whose keys may come while the engine runs their query."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum

from service.model.tables.tables import TableName


class LateUse(StrEnum):
    """How a late filter ended. USED: the scan read only files that it keeps.

    TOO_LATE: its condition came, and the scan had been divided into tasks before.
    """

    USED = "USED"
    TOO_LATE = "TOO_LATE"


@dataclass(frozen=True, slots=True)
class LateFilter:
    """A filter of a statement that has begun without it.

    The statement names the table once, and reads it at this snapshot. It needs no row of it that does not
    meet `condition`, which is SQL on the table's columns. The condition may come at any time, in any thread,
    or never; None: there is nothing to filter by.
    """

    filter_id: str
    table: TableName
    snapshot_id: int
    condition: Future[str | None]
