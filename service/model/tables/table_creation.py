"""A table that is created for the records of an ingest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.faults import Fault
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import PartitionField, SortField

_SUFFIXES = {"identity": "", "bucket": "_bucket", "truncate": "_trunc", "void": "_null"}


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The layout of a new table's files; `source` is a column's name, with dots into structs.

    A partition field without a name gets the name that Iceberg gives it.
    """

    partition_fields: tuple[PartitionField, ...] = ()
    sort_fields: tuple[SortField, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TableCreation:
    """Everything that a new table is created from; its ids are provisional."""

    schema: TableSchema
    layout: TableLayout = TableLayout()


@dataclass(frozen=True, slots=True)
class RequestedSchema:
    """The schema that the table is matched against, if any; with `create`, it also makes a missing table.

    `evolves` lets the table change. `drops_required` then also lets required columns become optional.
    """

    schema: TableSchema | None
    evolves: bool = False
    create: TableLayout | None = None
    drops_required: bool = False


@dataclass(frozen=True, slots=True)
class CreationFault:
    """The reason why a table cannot be created as requested; `place` is a JSON pointer into the request."""

    place: str
    reason: str

    @property
    def fault(self) -> Fault:
        """At its place."""
        return Fault(self.reason, self.place)


def partition_name(partition: PartitionField) -> str:
    """Returns the field's own name, or the one that Iceberg's `PartitionSpec.Builder` gives it.

    >>> partition_name(PartitionField("", "id", "bucket[8]")), partition_name(PartitionField("", "at", "day"))
    ('id_bucket', 'at_day')
    """
    kind = partition.transform.partition("[")[0]
    return partition.name or partition.source + _SUFFIXES.get(kind, f"_{kind}")
