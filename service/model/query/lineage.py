"""The sources of a result's columns, and the commit rounds that lineage reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from service.model.ingest.ingest import WrittenTarget, written_target
from service.model.ingest.writing import CommitResult, Committable, TableKey
from service.model.query.results import Column


class Influence(StrEnum):
    """The way in which a column of a table influences a result.

    The first three give values. The others decide which values there are: `CONDITIONAL` for one column, the
    rest for whole rows.

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
        """Whether the result's values are computed from the column's."""
        return self in (Influence.IDENTITY, Influence.TRANSFORMATION, Influence.AGGREGATION)


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """One column of a table, by the engine's name for it; `is_masked`: only a hash or a count is shown."""

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
    """All columns of a result in their order, and the columns that decide which rows it has."""

    columns: tuple[ColumnSources, ...]
    rows: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class ResultLineage:
    """A result's columns and, if the engine knows them, their sources.

    `cached_tables` are tables whose rows were read from memory, each by the name that the engine read it by.
    """

    columns: tuple[Column, ...]
    origins: ColumnLineage | None
    cached_tables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EndedRound:
    """A commit round that made a snapshot, or was rejected as a whole with an `error_code`."""

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
        """Returns what is reported about the round; its files are not."""
        return cls(
            committable.key,
            committable.round_id,
            committable.ingest_ids,
            tuple(written_target(write_result) for write_result in committable.write_results),
            None if result is None else result.snapshot_id,
            error_code,
            took_ms,
        )
