"""The reuse of a query's result by a later query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from service.model.policies.read_plan import Parts, ReadPlan
from service.model.query.lineage import ColumnLineage
from service.model.query.results import Manifest
from service.model.query.scan_metrics import ScanRecord
from service.model.tables.tables import TableName


class ReuseChoice(StrEnum):
    """A caller's choice for one query.

    `USE`: an earlier result is answered if it is the one that a run would give now. `NEVER`: the query runs,
    and its result is not kept. `REFRESH`: the query runs, and its result replaces the one that is kept.
    """

    USE = "USE"
    NEVER = "NEVER"
    REFRESH = "REFRESH"


class Reusability(StrEnum):
    """Whether a query's result may be reused, or why not."""

    REUSABLE = "REUSABLE"
    NONDETERMINISTIC = "NONDETERMINISTIC"
    TIME_DEPENDENT = "TIME_DEPENDENT"
    OTHER_SOURCE = "OTHER_SOURCE"
    NOT_UNDERSTOOD = "NOT_UNDERSTOOD"


class ReuseOutcome(StrEnum):
    """The outcome of a lookup for an earlier result."""

    HIT = "HIT"
    UNKNOWN_TEXT = "UNKNOWN_TEXT"
    NOT_REUSABLE = "NOT_REUSABLE"
    NOT_ALLOWED = "NOT_ALLOWED"
    TABLES_UNKNOWN = "TABLES_UNKNOWN"
    DEFINITION_CHANGED = "DEFINITION_CHANGED"
    NO_RESULT = "NO_RESULT"
    LIMITS = "LIMITS"
    TOO_OLD = "TOO_OLD"
    RESULT_GONE = "RESULT_GONE"


class ReuseKind(StrEnum):
    """The part of an earlier query that answered a query: its result, or its state, brought up to date."""

    RESULT = "RESULT"
    REFRESHED = "REFRESHED"


@dataclass(frozen=True, slots=True)
class Reused:
    """The earlier query that a query was answered from, and how old its result or state was."""

    query_id: UUID
    age_ms: int
    kind: ReuseKind = ReuseKind.RESULT


@dataclass(frozen=True, slots=True)
class TableRead:
    """A reference to a table in a plan, in the state in which the engine loaded it for the plan.

    `is_version`: a version was asked for, and `snapshot_id` is its snapshot. `has_options`: it has options.
    """

    table: TableName
    table_uuid: UUID
    schema_id: int
    metadata_location: str
    snapshot_id: int | None
    is_version: bool = False
    has_options: bool = False

    @property
    def state(self) -> str:
        """A state that no two commits of any table share."""
        return state_of(self.table_uuid, self.metadata_location)

    @property
    def columns(self) -> str:
        """A text that is the same only for equal columns: those of a version may change with any commit."""
        is_fixed = not self.is_version and not self.has_options
        return f"{self.table_uuid} schema {self.schema_id}" if is_fixed else self.state


def state_of(table_uuid: UUID, metadata_location: str) -> str:
    """Returns the state of a table: a metadata file never changes, and each commit writes a new one."""
    return f"{table_uuid} {metadata_location}"


@dataclass(frozen=True, slots=True)
class PlanReads:
    """The references to tables in the plan that ran. `has_others`: it reads something else, too."""

    tables: tuple[TableRead, ...]
    has_others: bool = False


@dataclass(frozen=True, slots=True)
class PlanShape:
    """The classes of the nodes and of the aggregate functions in an analyzed plan.

    `aggregations` is how many of its nodes aggregate, and `below_aggregations` are the classes of the nodes
    that these read. Both leave out subqueries in expressions.
    """

    nodes: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()
    aggregations: int = 0
    below_aggregations: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """Facts that the engine knows of a text before it runs.

    `plan` has the tables and views that it reads, where. `views` has the state of each view, which no two
    changes of it share, `definitions` the digest of each with all views below it, and `texts` their texts.
    `reads` are its references to tables as it was analyzed. `reusability` is that of the text with the
    policies of the principal that it was analyzed for. `shape` is that of its
    analyzed plan.
    """

    plan: ReadPlan
    reusability: Reusability
    views: Mapping[TableName, str] = field(default_factory=dict)
    definitions: Mapping[Parts, str] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    reads: tuple[TableRead, ...] = ()
    shape: PlanShape = field(default_factory=lambda: PlanShape())

    @property
    def tables(self) -> tuple[TableName, ...]:
        """The tables that it reads, each once, in order."""
        return tuple(sorted({table.name for table in self.plan.tables}))


@dataclass(frozen=True, slots=True)
class ReusableResult:
    """A result that is kept for reuse, and the query that it came from.

    `taken_at` is a moment at which the tables were in the state that the result has. `scans` are those of the
    query that ran, with nothing selected. `lineage` and `applied` are as in the record of that query.
    """

    query_id: UUID
    taken_at: datetime
    manifest: Manifest
    scans: tuple[ScanRecord, ...] = ()
    applied: tuple[str, ...] | None = None
    lineage: ColumnLineage | None = None
    cached_tables: tuple[tuple[str, str], ...] = ()

    def fits(self, row_limit: int, byte_limit: int) -> bool:
        """Whether a query with these limits would have returned all of it."""
        return self.manifest.row_count <= row_limit and self.manifest.byte_count <= byte_limit
