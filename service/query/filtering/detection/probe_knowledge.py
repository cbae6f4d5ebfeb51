"""Facts on the files of one query's tables, learned within the query's time for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.filters.partition_tuples import PartitionTuples
from service.model.tables.tables import TableFacts, TableName
from service.ports.clock import Clock
from service.ports.filters.filter_keys import ProbeValues
from service.pruning.scan_layout.is_worth_collecting import is_worth_filtering

ProbeColumn: TypeAlias = tuple[TableName, int | None, str]
"""A table, its snapshot, and a column as the table spells it."""


class ProbeKnowledge:
    """Answers one query's questions on columns; waits at most `within_ms` for all of them.

    Tables of less than `min_table_bytes` are not pruned, so it does not wait for theirs.
    """

    def __init__(self, values: ProbeValues, clock: Clock, within_ms: int, min_table_bytes: int) -> None:
        self._values = values
        self._clock = clock
        self._left_ms = within_ms
        self._min_table_bytes = min_table_bytes
        self._asked: dict[ProbeColumn, ColumnValues | NotKnown] = {}

    @property
    def pending(self) -> tuple[ProbeColumn, ...]:
        """Columns that were asked about and not known for this snapshot in time."""
        return tuple(column for column, found in self._asked.items() if _is_pending(found))

    def announce(self, facts: Iterable[TableFacts], columns: frozenset[str]) -> None:
        """Begins to learn about these columns, given in lower case, of all the tables at the same time."""
        for table in facts:
            asked = [column.name for column in table.columns if column.name.lower() in columns]
            if asked and self._is_of_use(table):
                self._values.prepare(table.name, table.snapshot_id, asked)

    def is_clustered(self, facts: TableFacts, column: str) -> bool:
        """Whether keys of this column leave out most of the table's files; assumed while it is not known.

        Iceberg compares a predicate with each file's bounds in any case.
        """
        if facts.snapshot_id is None or facts.data_file_count == 1:
            return False
        is_of_use = self._is_of_use(facts)
        found = self._of((facts.name, facts.snapshot_id, column), may_wait=is_of_use)
        match found:
            case NotKnown.PENDING:
                return is_of_use
            case NotKnown.UNAVAILABLE:
                return False
            case ColumnValues():
                return found.is_clustered

    def clustering(self, facts: TableFacts, column: str) -> str:
        """Says why keys of this column leave out too few of the table's files."""
        if facts.snapshot_id is None or facts.data_file_count == 1:
            return "the table has one file" if facts.data_file_count == 1 else ""
        found = self._of((facts.name, facts.snapshot_id, column), may_wait=False)
        if isinstance(found, NotKnown):
            return found.value
        overlap = found.overlap
        return "" if overlap is None else f"{overlap.overlapping} of {overlap.files} files overlap"

    def values_of(self, column: ProbeColumn) -> ColumnValues | None:
        """Returns the column's values, or None if they are not known."""
        found = self._of(column, may_wait=True)
        return found if isinstance(found, ColumnValues) else None

    def partitions(
        self, table: TableName, snapshot_id: int | None, columns: Sequence[str]
    ) -> PartitionTuples | None:
        """Returns which combinations its partitions have of these columns; None if it is not known."""
        return self._values.partitions(table, snapshot_id, columns)

    def has_news(self, columns: Iterable[ProbeColumn]) -> bool:
        """Whether a column is known by now that an earlier query did not learn in time."""
        return any(not _is_pending(self._of(column, may_wait=False)) for column in columns)

    def _of(self, column: ProbeColumn, *, may_wait: bool) -> ColumnValues | NotKnown:
        found = self._asked.get(column)
        if found is None or (_is_pending(found) and may_wait):
            began_ms = self._clock.elapsed_ms()
            found = self._values.of(*column, self._left_ms / 1000 if may_wait else 0.0)
            self._left_ms = max(0, self._left_ms - (self._clock.elapsed_ms() - began_ms))
            self._asked[column] = found
        return found

    def _is_of_use(self, facts: TableFacts) -> bool:
        return facts.snapshot_id is not None and is_worth_filtering(facts, self._min_table_bytes)


def _is_pending(found: ColumnValues | NotKnown) -> bool:
    return found is NotKnown.PENDING or (isinstance(found, ColumnValues) and not found.is_current)
