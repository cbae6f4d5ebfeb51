"""The keys of filters, and the values of the columns that they prune."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_selection import ColumnSet, KeySelection
from service.model.filters.key_set import DynamicFilteringData, EarlierKeys
from service.model.filters.partition_tuples import PartitionTuples
from service.model.filters.relations import RelationBounds, RelationQuery
from service.model.query.query import Parameters
from service.model.tables.tables import TableName

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class KeysAndRows:
    """A filter's keys and the rows that contain them, from one scan. None: there are too many rows."""

    keys: DynamicFilteringData
    rows: pa.Table | None


@dataclass(frozen=True, slots=True)
class SelectedRows:
    """The selection of a filter's conditions, and the columns that may be kept, with their types.

    The columns are by name in lower case.
    """

    selection: KeySelection
    types: Mapping[str, pa.DataType]


class ProbeValues(Protocol):
    """The values in the columns of probe tables, so that only useful filters are applied."""

    def prepare(self, table: TableName, snapshot_id: int | None, columns: Sequence[str]) -> None:
        """Begins to find the values of these columns, all in one scan. Returns at once."""

    def of(
        self, table: TableName, snapshot_id: int | None, column: str, within_s: float = 0.0
    ) -> ColumnValues | NotKnown:
        """Returns the values that reads of this snapshot can find in the column, as known within `within_s`.

        The first call starts the search, which goes on after the time is up. The answer is then an earlier
        snapshot's, not current, or `NotKnown.PENDING`. With a time of zero the call starts the search and
        does not wait; nor does it wait if the search took longer before. Without a snapshot the answer is of
        the table's facts when they were last listed, and not pinned.
        """

    def partitions(
        self, table: TableName, snapshot_id: int | None, columns: Sequence[str]
    ) -> PartitionTuples | None:
        """Returns at once which combinations of two or more of these columns the snapshot's partitions have.

        None if it is not known. The combinations are found together with the columns' values, in bounded
        memory.
        """


class KeyCollector(Protocol):
    """Collects the keys of a filter's build side without the engine."""

    def collect(
        self, wanted: DynamicFilter, parameters: Parameters, is_canceled: Callable[[], bool]
    ) -> DynamicFilteringData | None:
        """Returns the keys, as the build's snapshots have them; None when another way must be taken.

        Raises:
            QueryCanceled: the query was canceled while this ran.
        """

    def collect_with_rows(
        self,
        wanted: DynamicFilter,
        relation: RelationQuery,
        bounds: RelationBounds,
        parameters: Parameters,
        is_canceled: Callable[[], bool],
    ) -> KeysAndRows | None:
        """Returns the keys and the relation's rows that contain them, from one scan.

        Returns None, before anything is read, unless the keys come from exactly this relation and its rows
        come back as the engine reads them.

        Raises:
            QueryCanceled: the query was canceled while this ran.
        """


class KeyCarrier(Protocol):
    """Keeps keys over commits to their build tables."""

    def carry(
        self,
        wanted: DynamicFilter,
        earlier: EarlierKeys,
        parameters: Parameters,
        is_canceled: Callable[[], bool],
    ) -> DynamicFilteringData | None:
        """Returns the keys of `wanted`, made from earlier keys of its series; None if that is not certain.

        They are the same keys that a collection would find. At most the files that were added since are read.

        Raises:
            QueryCanceled: the query was canceled while this ran.
        """


class KeySelector(Protocol):
    """Finds the keys of a filter in the rows that were kept of a wider one."""

    def selected(self, wanted: DynamicFilter, parameters: Parameters) -> SelectedRows | None:
        """Returns what the conditions select; None if the query is not one for the keys of one table."""

    def kept(self, rows: pa.Table, columns: Sequence[str], selected: SelectedRows) -> pa.Table | None:
        """Returns these columns of the rows, each row once; None if one is missing or of another type."""

    def keys_within(
        self, rows: pa.Table, wanted: DynamicFilter, conditions: Mapping[str, ColumnSet]
    ) -> DynamicFilteringData | None:
        """Returns the keys of those rows that meet the conditions; None if there are too many."""
