"""What the gateway needs from outside: Protocols of at most five methods, named for the need.

Adapters implement them in `service.adapters` and `spark_session`; fakes in `tests/fakes` under the same
contract suite. `api/bootstrap/wiring.py` alone brings them together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar
from uuid import UUID

from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.filters.filtering import CachedFilter, DynamicFilter, DynamicFilteringData, ObtainedKeys
from service.model.filters.partition_tuples import PartitionTuples
from service.model.filters.relations import HeldRelation, RelationBounds, RelationQuery
from service.model.operations.health import PartHealth, Vitals
from service.model.query.history import QueryListing, QuerySummary, TablePruning
from service.model.query.lineage import ColumnLineage
from service.model.query.pruning import ScanRecord
from service.model.query.query import Parameters, QueryRecord, QueryState
from service.model.query.replicas import Decided, OpenQuery
from service.model.query.results import Column, Manifest
from service.model.tables.tables import TableAt, TableFacts, TableListing, TableName
from service.model.tables.views import View, ViewReading

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Statement:
    """What the engine is to run, and the bounds of what it may answer.

    `relations` are held ones by the names that the text reads them by; `properties` are the engine's, for
    this statement alone. `origin` is the caller's own text, of which this one is made; empty: this one.
    `caller` is who `current_user()` is; None: nobody in particular.
    """

    query_id: UUID
    sql: str
    parameters: Parameters
    catalog: str | None
    schema: str | None
    row_limit: int
    byte_limit: int
    is_canceled: Callable[[], bool]
    relations: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    caller: str | None = None

    def text_fingerprint(self) -> str:
        """The same for two statements that are made of one text with the same values."""
        text = " ".join((self.origin or self.sql).split())
        asked = (text, repr(self.parameters), self.catalog, self.schema)
        return hashlib.sha256(repr(asked).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class EngineResult:
    """What the engine answered. `plan_text` is called after the answer is out: rendering plans takes time.

    `planned_tables` are those of which the plan leaves files to read, in lower case, whatever was read of
    them in the end; None when nobody knows. `with_totals` gives scans that were spared the totals of every
    level, of which only the engine knows all. `lineage` is what the columns come from, None when nobody
    knows.
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


class Engine(Protocol):
    """Runs one query after another, or several at once, on a warm session."""

    def run(self, statement: Statement) -> EngineResult:
        """Answers the statement. Blocks.

        Raises:
            CallerError: the statement is not a query, does not parse or does not resolve.
            QueryEnded: it failed, or was canceled.
            PartDown: there is no engine now, or it was lost on the way.
        """

    def explain(self, statement: Statement) -> EngineResult:
        """Plans the statement as `run` would, and runs nothing: the result has no rows.

        Scans tell the files that the plan selects; none of their rows was read, and what the engine prunes
        while it runs is not known.

        Raises:
            CallerError, QueryEnded, PartDown: as `run`.
        """

    def cancel(self, query_id: UUID) -> None:
        """Stops what runs for this query, if anything does. May be called again and again."""

    def health(self) -> PartHealth:
        """At once, without asking the engine to compute anything."""

    def close(self) -> None:
        """Stops the engine and all that runs on it."""


@dataclass(frozen=True, slots=True)
class KeysAndRows:
    """A filter's keys, and the rows that they are in, from one reading; None: the rows are not few."""

    keys: DynamicFilteringData
    rows: pa.Table | None


class Relations(Protocol):
    """Rows of small tables that the engine keeps in memory."""

    def held(self, fingerprint: str) -> HeldRelation | None:
        """The relation, if the engine has it now. At once."""

    def fetch(
        self, query: RelationQuery, parameters: Parameters, bounds: RelationBounds
    ) -> HeldRelation | None:
        """Reads the rows and keeps them for as long as there is room; None when they are too large.

        Raises:
            GatewayError: the engine failed, or was lost.
        """

    def put(self, query: RelationQuery, rows: pa.Table, bounds: RelationBounds) -> HeldRelation | None:
        """Keeps rows that were read elsewhere, as if it had fetched them; None when they are too large.

        Their columns are those of the query, in its order, of the types that the engine reads them as.

        Raises:
            GatewayError: there is no engine, or it failed.
        """


class Catalogs(Protocol):
    """All configured catalogs, read as they are now."""

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        """Every table, in order of name; only those of one catalog or schema, if given.

        Raises:
            CatalogDown: the catalog that was named does not answer, or none does.
        """

    def facts(self, name: TableName) -> TableFacts:
        """The table as it is now.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: there is none of that name (`nearest` is filled).
            CatalogDown: the catalog does not answer.
        """

    def facts_of(self, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
        """The tables as they are now, or were at these versions; never raises.

        All versions of a table are those of one moment. Left out are tables and versions that are not there,
        those that the engine may read otherwise than by what is known of them, and those whose catalog does
        not answer within a second or so.
        """

    def nearest(self, dotted: str) -> Sequence[str]:
        """At most three full names that look most like this one; empty when no catalog can be asked."""

    def health(self) -> Sequence[PartHealth]:
        """One entry per catalog, named `catalog:<name>`."""


class SessionTables(Protocol):
    """The tables of the engine's own catalog, which has folders of files and a metastore's tables."""

    def tables(self) -> Sequence[TableName]:
        """All of them.

        Raises:
            CatalogDown: the engine, or its metastore, does not answer.
        """

    def facts(self, name: TableName, kept_ms: int) -> TableFacts | None:
        """The table, with columns as they are now and files as they were so long ago at most; None: no such.

        Raises:
            CatalogDown: the engine, or its metastore, does not answer.
        """

    def check(self) -> None:
        """Returns when the catalog answers.

        Raises:
            CatalogDown: it does not.
        """


class Views(Protocol):
    """The views of the catalogs, as the engine reads them."""

    def view(self, name: TableName) -> View | None:
        """The view as it is now, never as it was before; None when there is none of that name.

        Raises:
            CatalogDown: the catalog, or the engine, does not answer.
        """

    def is_read_alike(self, reading: ViewReading) -> bool:
        """Whether the engine makes of the query what it makes of the view: columns, types and rows.

        It compares the two as they are now. The query may stand anywhere: none of its names can be taken for
        another one's.

        Raises:
            CatalogDown: nobody can tell now.
        """


class ProbeValues(Protocol):
    """What the columns of probe tables hold, so that filters can be narrowed to it."""

    def prepare(self, table: TableName, snapshot_id: int | None, columns: Sequence[str]) -> None:
        """Begins to find out what these columns hold, all by one reading. At once."""

    def of(
        self, table: TableName, snapshot_id: int | None, column: str, within_s: float = 0.0
    ) -> ColumnValues | NotKnown:
        """What reads of this snapshot can find in the column, as far as that is known in so many seconds.

        The first question starts to find out, and goes on when the time is up: then the answer is what an
        earlier snapshot held, and not current, or `NotKnown.PENDING`. No time at all starts it, and asks for
        no more. Where finding out took longer before, nobody waits. Without a snapshot the answer is what was
        there when the table's facts were listed last, and not pinned.
        """

    def partitions(
        self, table: TableName, snapshot_id: int | None, columns: Sequence[str]
    ) -> PartitionTuples | None:
        """Which combinations the snapshot's partitions have of two or more of these columns. At once.

        None where that is not known. It is found out beside what the columns hold, in memory that is bounded.
        """


class KeyCollector(Protocol):
    """Collects the keys of a filter's build side by a way of its own."""

    def collect(
        self, wanted: DynamicFilter, parameters: Parameters, is_canceled: Callable[[], bool]
    ) -> DynamicFilteringData | None:
        """The keys, as the build's snapshots have them; None when another way must be taken.

        Raises:
            QueryCanceled: on the way.
        """

    def collect_with_rows(
        self,
        wanted: DynamicFilter,
        relation: RelationQuery,
        bounds: RelationBounds,
        parameters: Parameters,
        is_canceled: Callable[[], bool],
    ) -> KeysAndRows | None:
        """The keys and the rows of the relation that they are in, from one reading.

        None, before anything is read, when the relation is not exactly what the keys are from, or its rows
        do not come back as the engine reads them.

        Raises:
            QueryCanceled: on the way.
        """


class MetricsStore(Protocol):
    """Keeps what queries leave behind."""

    def record(self, records: Sequence[QueryRecord]) -> None:
        """Writes them all or none; a record that is there already stays as it is.

        Raises:
            MetricsStoreDown: nothing was written.
        """

    def find(self, query_id: UUID) -> QueryRecord | None:
        """The record of one query.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """The record of the query that this caller sent under this id.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def forget_before(self, moment: datetime) -> int:
        """Deletes older records; how many.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def health(self) -> PartHealth:
        """Asks the store, within a second."""


class Replicas(Protocol):
    """What this replica says of itself to the others, and what it hears of them.

    Time is the store's alone: clocks of machines may differ.
    """

    def beat(self, opened: Sequence[OpenQuery], held: Collection[UUID], closed: Collection[UUID]) -> Decided:
        """Says that this replica is alive, and what became of its queries; all of it or nothing.

        Args:
            opened: are written down, or anew with another state; but not those that count as lost.
            held: those that it has written down and not closed: what others decided about them comes back.
            closed: have left their record, and are forgotten here.

        Raises:
            MetricsStoreDown: nothing was written.
        """

    def take_lost(self, lost_after_s: float) -> Collection[UUID]:
        """Gives the open queries of replicas that were not seen for so long their record: `REPLICA_LOST`.

        Each exactly once, whoever else does the same at this moment.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def find(self, query_ids: Collection[UUID]) -> Mapping[UUID, OpenQuery]:
        """Those of them that are open at any replica and were written down.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def ask_to_cancel(self, query_id: UUID) -> None:
        """Has the replica that runs it hear of it with its next beat.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def leave(self) -> None:
        """Says that this replica ends now: what it left open is lost from this moment.

        Raises:
            MetricsStoreDown: the store does not answer; the others find out by themselves.
        """


class QueryHistory(Protocol):
    """Looks back on what queries have left behind."""

    def queries(self, listing: QueryListing) -> Sequence[QuerySummary]:
        """A caller's recorded queries, the newest first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def pruning(self, since: datetime, table: str | None) -> Sequence[TablePruning]:
        """Every table that was scanned, or could have been narrowed, since then; in order of name.

        Raises:
            MetricsStoreDown: the store does not answer.
        """


class Meters(Protocol):
    """Numbers of what the gateway has done since its start."""

    def count(self, record: QueryRecord) -> None:
        """Counts a query that has ended, with its filters and scans. Never blocks, never raises."""

    def exposition(self, open_queries: Mapping[QueryState, int], vitals: Vitals | None = None) -> bytes:
        """All numbers as they are now, in Prometheus' text format 0.0.4, with the queries that are open."""


class Journal(Protocol):
    """Takes records without ever making a query wait for the metrics store."""

    def append(self, record: QueryRecord) -> None:
        """Keeps the record until it is written. Never blocks, never raises; the oldest makes room."""

    def find(self, query_id: UUID) -> QueryRecord | None:
        """A record that still waits to be written."""

    def find_request(self, caller: str, request_id: UUID) -> QueryRecord | None:
        """The same, by the id that this caller gave the request."""

    def close(self) -> None:
        """Writes what waits, within a bound."""


class ResultStore(Protocol):
    """Keeps results until their time to live ends."""

    def put(
        self, query_id: UUID, rows: pa.Table, columns: tuple[Column, ...], is_truncated: bool
    ) -> Manifest:
        """Keeps the rows, cut into chunks."""

    def chunk(self, query_id: UUID, index: int) -> pa.Table:
        """The rows of one chunk; the same on every read.

        Raises:
            ResultExpired: the result is gone.
            ChunkNotFound: the result has no such chunk.
        """

    def drop(self, query_id: UUID) -> None:
        """Forgets a result, if it is there."""


class FilterCache(Protocol):
    """Where the keys of dynamic filters are shared, by all queries of all replicas."""

    def obtain(
        self, wanted: DynamicFilter, collect: Callable[[str], DynamicFilteringData], within_s: float
    ) -> ObtainedKeys:
        """The keys under `wanted.fingerprint`: from this process, from the server, or from `collect`.

        Of all who ask for the same keys at once, one collects; the others wait for it, so long at most. The
        keys are stored unless `collect` raises. A cache that is down, slow, full or holds rubbish is only a
        reason to collect, told in the `note`, and to `collect` as far as it is known before.

        Raises:
            Exception: whatever `collect` raised, here or for the one who was waited for; never an end of
                that other one's own query.
            FilterCollectionTimedOut: another collects, and was not done in time.
        """

    def held(self, fingerprint: str) -> ObtainedKeys | None:
        """The keys, if this process has them: at once, nobody is asked for them."""

    def cached(self, wanted: DynamicFilter) -> ObtainedKeys:
        """The keys, if they are there now; none also where the cache is of no use, told in the `note`.

        Nobody is waited for.
        """

    def forget(self, fingerprint: str | None) -> int:
        """Deletes one entry, or all; how many there were. Other replicas follow within seconds.

        Raises:
            FilterCacheDown: this process has forgotten them, the server perhaps not.
        """

    def entries(self, limit: int) -> Sequence[CachedFilter]:
        """What is stored, so many at most, the newest of them first.

        Raises:
            FilterCacheDown: the cache does not answer.
        """

    def health(self) -> PartHealth:
        """Asks the server, within a second."""


Answer = Callable[..., object]
"""Answers what a function asks for while it runs: the name of a question, and its arguments."""


def no_answer(name: str, *_: object) -> object:
    """For functions that ask nothing."""
    raise LookupError(name)


class CallGivenUp(Exception):
    """A call did not come to its end: it took too long or too much memory, or failed, or had no turn."""

    def __init__(self, reason: str, *, is_busy: bool = False) -> None:
        super().__init__(reason)
        self.is_busy = is_busy
        """Whether others were at it, so that another try may have its turn."""


class BoundedCalls(Protocol):
    """Runs functions that may take long by what a caller sent, and ends them when they do."""

    def call(self, function: Callable[..., R], *arguments: object, answer: Answer = no_answer) -> R:
        """What the function gives, which gets a way to `answer`, and then the arguments.

        The function is one of a module; arguments, questions, answers and results are picklable.

        Raises:
            CallGivenUp: it was not done in time.
        """


class Clock(Protocol):
    """Time, so that no test has to sleep."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""

    def elapsed_ms(self) -> int:
        """Milliseconds on a clock that never goes back."""
