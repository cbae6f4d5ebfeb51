"""The external parts that the gateway needs: small Protocols, named for the need.

Adapters implement them in `service.adapters` and `spark_session`; fakes in `tests/fakes` pass the same
contract suite. Only `api/bootstrap/wiring.py` brings them together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar
from uuid import UUID

from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.filters.filtering import (
    CachedFilter,
    DynamicFilter,
    DynamicFilteringData,
    EarlierKeys,
    ObtainedKeys,
)
from service.model.filters.partition_tuples import PartitionTuples
from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.operations.health import PartHealth, Vitals
from service.model.operations.resource_groups import QueryClass
from service.model.policies.decisions import Access
from service.model.query.description import Description
from service.model.query.history import QueryListing, QuerySummary, TablePruning
from service.model.query.lineage import ColumnLineage
from service.model.query.planned_work import PlannedWork
from service.model.query.pruning import ScanRecord
from service.model.query.query import Parameters, QueryRecord, QueryState
from service.model.query.replicas import Decided, OpenQuery
from service.model.query.results import Column, Manifest
from service.model.query.reuse import PlanReads, Reused
from service.model.query.written_rows import ResultPlace, WrittenRows
from service.model.sessions.changes import SessionChange
from service.model.sessions.sessions import SessionValues
from service.model.tables.contents import SchemaEntry
from service.model.tables.tables import TableAt, TableFacts, TableListing, TableName
from service.model.tables.views import View, ViewReading

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R")


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


@dataclass(frozen=True, slots=True)
class KeysAndRows:
    """A filter's keys and the rows that contain them, from one scan. None: there are too many rows."""

    keys: DynamicFilteringData
    rows: pa.Table | None


class Relations(Protocol):
    """Rows of small tables that the engine keeps in memory."""

    def cached(self, fingerprint: str) -> CachedRelation | None:
        """Returns the relation at once, if the engine has it now."""

    def fetch(
        self, query: RelationQuery, parameters: Parameters, bounds: RelationBounds, access: Access
    ) -> CachedRelation | None:
        """Reads the rows that `access` shows and caches them while there is room; None: they are too large.

        Raises:
            GatewayError: the engine failed, or was lost.
        """

    def put(self, query: RelationQuery, rows: pa.Table, bounds: RelationBounds) -> CachedRelation | None:
        """Caches rows that were read elsewhere, as if it had fetched them; None if they are too large.

        The rows have the query's columns, in its order, with the types that the engine reads.

        Raises:
            GatewayError: there is no engine, or it failed.
        """


class Catalogs(Protocol):
    """All configured catalogs, read as they are now."""

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        """Lists every table in order of name; only those of one catalog or schema, if given.

        Raises:
            CatalogDown: the catalog that was named does not answer, or none does.
        """

    def facts(self, name: TableName) -> TableFacts:
        """Returns the table as it is now.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has this name (`nearest` is filled).
            CatalogDown: the catalog does not answer.
        """

    def facts_of(self, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
        """Returns the tables as they are now, or were at these versions; never raises.

        All versions of a table are from the same moment. The result omits missing tables and versions, tables
        that the engine may read differently than these facts say, and tables whose catalog does not answer
        within about a second.
        """

    def nearest(self, dotted: str) -> Sequence[str]:
        """Returns at most three full names that are most similar to this one; empty if no catalog answers."""

    def health(self) -> Sequence[PartHealth]:
        """One entry per catalog, named `catalog:<name>`."""


class SessionTables(Protocol):
    """The tables of the engine's own catalog: folders of files, and the tables of a metastore."""

    def tables(self) -> Sequence[TableName]:
        """Lists all of them.

        Raises:
            CatalogDown: the engine, or its metastore, does not answer.
        """

    def facts(self, name: TableName, max_age_ms: int) -> TableFacts | None:
        """Returns the table, its current columns and files at most `max_age_ms` old; None if missing.

        Raises:
            CatalogDown: the engine, or its metastore, does not answer.
        """

    def check(self) -> None:
        """Checks that the catalog answers.

        Raises:
            CatalogDown: it does not.
        """


class Views(Protocol):
    """The views of the catalogs, as the engine reads them."""

    def view(self, name: TableName) -> View | None:
        """Returns the current view, never an older one; None if no view has this name.

        Raises:
            CatalogDown: the catalog, or the engine, does not answer.
        """

    def is_read_alike(self, reading: ViewReading) -> bool:
        """Whether the engine reads the query like the view: the same columns, types and rows.

        It compares the two as they are now. The query may stand anywhere, because none of its names can be
        taken for another's.

        Raises:
            CatalogDown: nobody can tell now.
        """


class CatalogContents(Protocol):
    """The schemas and views of the catalogs, as the engine lists them."""

    def schemas(self, catalog: str) -> Sequence[SchemaEntry]:
        """Lists the schemas of a catalog, also those without tables.

        Raises:
            CatalogDown: the catalog, or the engine, does not answer.
        """

    def views(self, catalog: str, schema: str) -> Sequence[TableName]:
        """Lists the views of a schema; none if the catalog has no views, or no such schema.

        Raises:
            CatalogDown: the catalog, or the engine, does not answer.
        """


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


class QueryStore(Protocol):
    """Keeps the records of queries."""

    def record(self, records: Sequence[QueryRecord]) -> None:
        """Writes all of them or none; a record that exists stays as it is.

        Raises:
            MetricsStoreDown: nothing was written.
        """

    def find(self, query_id: UUID) -> QueryRecord | None:
        """Returns the record of one query.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns the record of the query that this caller sent under this id.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def forget_before(self, moment: datetime) -> int:
        """Deletes older records and returns how many.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def health(self) -> PartHealth:
        """Asks the store, within a second."""


class Replicas(Protocol):
    """Reports this replica's queries to the other replicas, and reads theirs.

    Only the store's clock counts: clocks of machines may differ.
    """

    def beat(
        self, opened: Sequence[OpenQuery], reported: Collection[UUID], closed: Collection[UUID]
    ) -> Decided:
        """Reports that this replica is alive, and the states of its queries; all of it or nothing.

        Args:
            opened: queries to write down, or to update with another state; not those that count as lost.
            reported: queries that this replica has written down and not closed. The result has what others
                decided about them.
            closed: queries that have their record, and are forgotten here.

        Raises:
            MetricsStoreDown: nothing was written.
        """

    def take_lost(self, lost_after_s: float) -> Collection[UUID]:
        """Closes the open queries of replicas that were not seen for `lost_after_s`, as `REPLICA_LOST`.

        Each is closed exactly once, even if others do the same at this moment.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def find(self, query_ids: Collection[UUID]) -> Mapping[UUID, OpenQuery]:
        """Returns those of these queries that are written down and open, at any replica.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def ask_to_cancel(self, query_id: UUID) -> None:
        """Asks the replica that runs the query to cancel it; the replica learns it with its next beat.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def leave(self) -> None:
        """Reports that this replica ends now: the queries that it leaves open are lost from this moment.

        Raises:
            MetricsStoreDown: the store does not answer; the others find out on their own.
        """


class OpenRequests(Protocol):
    """Finds open queries by the id that their caller gave the request."""

    def find_request(self, caller: str, request_id: UUID) -> OpenQuery | None:
        """Returns such a query, if it is written down and open, at any replica.

        Raises:
            MetricsStoreDown: the store does not answer.
        """


class SharedQueries(Replicas, OpenRequests, Protocol):
    """The open queries of all replicas."""


class QueryHistory(Protocol):
    """Looks back on recorded queries."""

    def queries(self, listing: QueryListing) -> Sequence[QuerySummary]:
        """Lists a caller's recorded queries, the newest first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def pruning(self, since: datetime, table: str | None) -> Sequence[TablePruning]:
        """Lists, by name, every table that was scanned since then, or whose scans could have been pruned.

        Raises:
            MetricsStoreDown: the store does not answer.
        """


class Metrics(Protocol):
    """Metrics of the gateway since its start."""

    def count(self, record: QueryRecord) -> None:
        """Counts a query that has ended, with its filters and scans. Never blocks, never raises."""

    def exposition(self, open_queries: Mapping[QueryState, int], vitals: Vitals | None = None) -> bytes:
        """Returns all current metrics and the open queries in Prometheus' text format 0.0.4."""


class AdmissionMetrics(Protocol):
    """Counts which queries were let run, and which were refused. Never blocks, never raises."""

    def admitted(self, group: str, query_class: QueryClass, waited_ms: int) -> None:
        """Counts a query that may run now; the group is a configured one, not that of a caller."""

    def refused(self, group: str, code: str) -> None:
        """Counts a query that met a full queue or a used-up budget."""


class NoAdmissionMetrics:
    """Implements `AdmissionMetrics`: counts nothing."""

    def admitted(self, group: str, query_class: QueryClass, waited_ms: int) -> None:
        """See the port."""

    def refused(self, group: str, code: str) -> None:
        """See the port."""


class CpuTimes(Protocol):
    """The CPU time of queries' tasks."""

    def taken(self) -> Mapping[UUID, int]:
        """Returns by query the milliseconds of CPU time that were not returned before. May block.

        Raises:
            PartDown: the engine cannot say it now.
        """


class Journal(Protocol):
    """Takes records without making a query wait for the metrics store."""

    def append(self, record: QueryRecord) -> None:
        """Keeps the record until it is written. Never blocks or raises; when full, drops the oldest."""

    def find(self, query_id: UUID) -> QueryRecord | None:
        """Returns a record that still waits to be written."""

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """Returns such a record by the id that this caller gave the request."""

    def close(self) -> None:
        """Writes the waiting records, within a bound."""


class ResultStore(Protocol):
    """Keeps results until their time to live ends."""

    def put(
        self, query_id: UUID, rows: pa.Table, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """Keeps the rows, cut into chunks."""

    def chunk(self, query_id: UUID, index: int) -> pa.Table:
        """Returns the rows of one chunk; the same on every read.

        Raises:
            ResultExpired: the result is gone.
            ChunkNotFound: the result has no such chunk.
        """

    def manifest(self, query_id: UUID) -> Manifest | None:
        """Returns the shape of a result that another replica may have kept; None if it is not here."""

    def share(self, query_id: UUID, other: UUID) -> bool:
        """Makes a result that of another query too, and returns whether it is still there.

        Each has its own time to live and ends on its own. The rows take their room once.
        """

    def drop(self, query_id: UUID) -> None:
        """Deletes a result, if it is there."""


class FilterCache(Protocol):
    """Shares the keys of dynamic filters among all queries of all replicas."""

    def obtain(
        self, wanted: DynamicFilter, collect: Callable[[str], DynamicFilteringData], within_s: float
    ) -> ObtainedKeys:
        """Returns the keys under `wanted.fingerprint`: from this process, from the server, or from `collect`.

        When several ask for the same keys, one collects and the others wait at most `within_s`. The keys are
        stored unless `collect` raises. If the cache is down, slow, full or corrupt, the keys are collected;
        the `note` says why, and `collect` gets the note as far as it is known by then.

        Raises:
            Exception: the error of `collect`, from this call or the one waited for; never the end of that
                other call's own query.
            FilterCollectionTimedOut: another call collects, and was not done in time.
        """

    def in_memory(self, fingerprint: str) -> ObtainedKeys | None:
        """Returns the keys at once if this process has them; no other process is asked."""

    def cached(self, wanted: DynamicFilter) -> ObtainedKeys:
        """Returns the keys if they are cached now; None if not, or if the cache fails, with a `note`.

        It does not wait for a running collection.
        """

    def earlier(self, wanted: DynamicFilter) -> EarlierKeys | None:
        """Returns the keys of `wanted.series` that were stored last, if they are still cached.

        None also if the cache fails.
        """

    def supersede(self, fingerprint: str) -> None:
        """Lets the keys expire in minutes: later ones of their series are stored. Never raises."""

    def forget(self, fingerprint: str | None) -> int:
        """Deletes one entry, or all, and returns how many there were. Other replicas follow within seconds.

        Raises:
            FilterCacheDown: this process has forgotten them, but the server may not have.
        """

    def entries(self, limit: int) -> Sequence[CachedFilter]:
        """Lists the newest stored entries, at most `limit`, the newest first.

        Raises:
            FilterCacheDown: the cache does not answer.
        """

    def health(self) -> PartHealth:
        """Asks the server, within a second."""


Answer = Callable[..., object]
"""Answers a question that a function asks while it runs: its name and its arguments."""


def no_answer(name: str, *_: object) -> object:
    """For functions that ask nothing."""
    raise LookupError(name)


class CallGivenUp(Exception):
    """A call did not finish: it took too long or too much memory, failed, or got no turn."""

    def __init__(self, reason: str, *, is_busy: bool = False) -> None:
        super().__init__(reason)
        self.is_busy = is_busy
        """Whether other calls held the place, so that a second try may get a turn."""


class BoundedCalls(Protocol):
    """Runs functions whose time depends on a caller's input, and ends them when they take too long."""

    def call(self, function: Callable[..., R], *arguments: object, answer: Answer = no_answer) -> R:
        """Returns the function's result. The function gets a way to `answer`, and then the arguments.

        The function is one of a module; arguments, questions, answers and results can be pickled.

        Raises:
            CallGivenUp: it was not done in time.
        """


class Clock(Protocol):
    """Time, so that no test has to sleep."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""

    def elapsed_ms(self) -> int:
        """Milliseconds on a clock that never goes back."""
