"""The engine of queries: it runs, plans and describes statements."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from service.model.operations.health import PartHealth
from service.model.policies.decisions import Access
from service.model.query.description import Description
from service.model.query.lineage import ColumnLineage
from service.model.query.planned_work import PlannedWork
from service.model.query.query import Parameters
from service.model.query.results import Column
from service.model.query.reuse import PlanReads, Reused
from service.model.query.scan_metrics import ScanRecord
from service.model.query.written_rows import ResultPlace, WrittenRows
from service.model.sessions.session_changes import SessionChange
from service.model.sessions.sessions import SessionValues
from service.model.writes.writes import BeginWrite
from service.ports.engine.late_filters import LateFilter, LateUse
from service.ports.engine.tuple_filters import TupleFilter

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Statement:
    """A query for the engine, and the bounds of its result.

    `relations` maps the names in the text to cached relations; `properties` are engine settings for this
    statement alone. `origin` is the caller's text that this one was made from; empty: this text itself.
    `caller` is the answer of `current_user()`; None: nobody in particular. `access` is what the statement may
    read. `explain` is the mode of EXPLAIN in which the plan is the result; None: the rows are. `admit` is
    called when the plan is there, before the first job; it returns the scheduler's pool for the jobs, or
    raises `NotAdmitted`, which ends the run. None: nobody has to be asked. `session` has the values of its
    caller's session. `place` is where the engine may leave the rows if they are many; None: it returns all.
    `begin_write` is called right before the statement changes anything; None: it may change nothing.
    `is_rehearsal`: no caller asked. A text that ran while an engine was lost is then refused, and a success
    does not prove that the text is harmless. `is_of_state`: it makes or reads a state of an aggregation, and
    may call each `StateFunction`. `late_filters` may leave out files of scans that have not begun, and
    `tuple_filters` those of scans that compare their keys. `states`
    has the state of each table that the text reads, by its full name in lower case, as the text was made from
    it; no two commits of any table share one. Empty: nobody has looked, or the text may depend on the moment.
    """

    query_id: UUID
    sql: str
    parameters: Parameters
    catalog: str | None
    schema: str | None
    row_limit: int
    byte_limit: int
    is_canceled: Callable[[], bool]
    access: Access
    relations: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    caller: str | None = None
    admit: Callable[[PlannedWork], str] | None = None
    explain: str | None = None
    session: SessionValues | None = None
    place: ResultPlace | None = None
    begin_write: BeginWrite | None = None
    is_rehearsal: bool = False
    is_of_state: bool = False
    late_filters: tuple[LateFilter, ...] = ()
    tuple_filters: tuple[TupleFilter, ...] = ()
    states: Mapping[str, str] = field(default_factory=dict)

    def text_fingerprint(self) -> str:
        """Returns the same text for two statements that come from one text with the same values."""
        text = " ".join((self.origin or self.sql).split())
        asked = (text, repr(self.parameters), self.catalog, self.schema)
        return hashlib.sha256(repr(asked).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class EngineResult:
    """The engine's result. Call `plan_text` after the answer is out: rendering plans takes time.

    `planned_tables` are the tables, in lower case, whose scans keep files to read in the plan, whatever was
    read in the end; None when it is unknown. `with_totals` adds the totals of every level to skipped scans;
    only the engine knows all of them. `lineage` names the source columns of each result column, None when it
    is unknown. `applied` are the names of the policies that it applied; None when it is unknown. `reads` are
    the tables as its plan read them, None when it is unknown. `change` is what the statement changes in its
    caller's session; only the session's store makes it so. `reused` is the earlier query whose state it was
    made from. `written` are the rows if the engine left them in the statement's place; `rows` has none then.
    `late_uses` says by their ids what became of the late filters that came while it ran. `tuple_uses` are the
    ids of the tuple filters by which a scan has chosen its files.
    """

    rows: pa.Table
    columns: tuple[Column, ...]
    is_truncated: bool
    planning_ms: int
    running_ms: int
    scans: tuple[ScanRecord, ...]
    plan_text: Callable[[], str]
    planned_tables: Callable[[], frozenset[str] | None] = lambda: None
    with_totals: Callable[[Sequence[ScanRecord]], tuple[ScanRecord, ...]] = tuple
    lineage: Callable[[], ColumnLineage | None] = lambda: None
    applied: tuple[str, ...] | None = None
    reads: Callable[[], PlanReads | None] = lambda: None
    change: SessionChange | None = None
    reused: Reused | None = None
    written: WrittenRows | None = None
    late_uses: Mapping[str, LateUse] = field(default_factory=dict)
    tuple_uses: frozenset[str] = frozenset()


class Engine(Protocol):
    """Runs one query after another, or several at once, on a warm session."""

    def run(self, statement: Statement) -> EngineResult:
        """Runs the statement and returns its result. Blocks.

        Raises:
            CallerError: the statement is not a query, does not parse or does not resolve.
            QueryEnded: it failed, or was canceled.
            PartDown: there is no engine now, or it was lost on the way.
            NotAdmitted: `statement.admit` said so; nothing has run.
        """

    def explain(self, statement: Statement) -> EngineResult:
        """Plans the statement as `run` would, and runs nothing: the result has no rows.

        Scans report the files that the plan selects. No rows are read, and pruning that the engine does while
        a query runs is not known.

        Raises:
            CallerError, QueryEnded, PartDown: as `run`.
        """

    def cancel(self, query_id: UUID) -> None:
        """Stops everything that runs for this query, if anything does. May be called repeatedly."""

    def health(self) -> PartHealth:
        """Returns at once, without asking the engine to compute anything."""

    def close(self) -> None:
        """Stops the engine and all that runs on it."""


class Describer(Protocol):
    """Tells what a query returns, and what its parameters are."""

    def describe(self, statement: Statement) -> Description:
        """Analyzes the statement as a run would, and runs nothing. It may have fewer values than parameters.

        Raises:
            CallerError: the statement is not a query, does not parse or does not resolve.
            PartDown: there is no engine now, or it was lost on the way.
        """


class CpuTimes(Protocol):
    """The CPU time of queries' tasks."""

    def taken(self) -> Mapping[UUID, int]:
        """Returns by query the milliseconds of CPU time that were not returned before. May block.

        Raises:
            PartDown: the engine cannot say it now.
        """
