"""What a result's columns come from, and what ended that others want to follow."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from service.model.ingest.ingest import WrittenTarget, written_target
from service.model.ingest.writing import CommitResult, Committable, TableKey
from service.model.query.results import Column


class Influence(StrEnum):
    """How a column of a table gets into a result.

    The first three give values; the others decide which ones: `CONDITIONAL` for one column, the rest for
    whole rows.

    Source: OpenLineage's column lineage facet, "Transformation Type".
    """

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    CONDITIONAL = "CONDITIONAL"
    FILTER = "FILTER"
    JOIN = "JOIN"
    GROUP_BY = "GROUP_BY"
    SORT = "SORT"
    WINDOW = "WINDOW"

    @property
    def is_direct(self) -> bool:
        """Whether the result's values are made of the column's."""
        return self in (Influence.IDENTITY, Influence.TRANSFORMATION, Influence.AGGREGATION)


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """One column of a table, by the name that the engine reads it by. `is_masked`: only a hash or a count."""

    table: str
    column: str
    influence: Influence
    is_masked: bool = False


@dataclass(frozen=True, slots=True)
class ColumnSources:
    """A column of a result."""

    name: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """All columns of a result in their order, and what decides about its rows."""

    columns: tuple[ColumnSources, ...]
    rows: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class ResultLineage:
    """A result's columns and, if the engine can say it, what they come from.

    `held_tables` are tables that were read from memory, by the names that the engine read them by.
    """

    columns: tuple[Column, ...]
    origins: ColumnLineage | None
    held_tables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EndedRound:
    """A commit round that made a snapshot, or was refused as a whole, with an `error_code`."""

    key: TableKey
    round_id: UUID
    ingest_ids: tuple[UUID, ...]
    targets: tuple[WrittenTarget, ...]
    snapshot_id: int | None
    error_code: str | None
    took_ms: int

    @classmethod
    def of(
        cls, committable: Committable, result: CommitResult | None, error_code: str | None, took_ms: int
    ) -> EndedRound:
        """What is told of it; its files are not."""
        return cls(
            committable.key,
            committable.round_id,
            committable.ingest_ids,
            tuple(written_target(each) for each in committable.write_results),
            None if result is None else result.snapshot_id,
            error_code,
            took_ms,
        )
