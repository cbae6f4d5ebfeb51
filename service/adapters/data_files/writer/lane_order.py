"""Decides which rows of a target may be written together, so that writes apply in order."""

from __future__ import annotations

from service.model.ingest.writing import TableKey, WriteTarget


class LaneOrder:
    """Numbers groups of rows that are written together, in the order in which the groups begin.

    Appends to the same table and branch may change order. An upsert replaces rows of earlier writes and not
    of later ones, so it keeps its position relative to all other writes.
    """

    def __init__(self) -> None:
        self._count = 0
        self._latest: dict[WriteTarget, int] = {}
        self._last: dict[TableKey, int] = {}
        self._last_upsert: dict[TableKey, int] = {}

    def lane_of(self, target: WriteTarget) -> int:
        """Returns the group number for the next rows of this target.

        >>> from service.model.tables.tables import TableName
        >>> key = TableKey(TableName("lake", "shop", "items"))
        >>> one, other, upsert = WriteTarget(key, 0, 0), WriteTarget(key, 1, 0), WriteTarget(key, 0, 0, True)
        >>> order = LaneOrder()
        >>> [order.lane_of(target) for target in (one, other, one, upsert, upsert, one, other, upsert)]
        [0, 1, 0, 2, 2, 3, 4, 5]
        """
        others = self._last if target.is_upsert else self._last_upsert
        number = self._latest.get(target, -1)
        if number < 0 or number < others.get(target.key, -1):
            number, self._count = self._count, self._count + 1
            self._latest[target] = self._last[target.key] = number
            if target.is_upsert:
                self._last_upsert[target.key] = number
        return number
