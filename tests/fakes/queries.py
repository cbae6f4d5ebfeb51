"""Queries that are answered from memory, and fail or wait when a test says so."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import (
    ChunkNotFound,
    QueryCanceled,
    QueryNotFound,
    RequestIdReused,
    ResultExpired,
)
from service.errors.unavailable import ShuttingDown
from service.model.policies.decisions import Access
from service.model.query.description import Description, ParameterType
from service.model.query.explanation import PLANNED, Explanation
from service.model.query.history import PruningSummary, QueryListing, QuerySummary, TablePruning, summary_of
from service.model.query.progress import QueryProgress, QueuePlace
from service.model.query.query import QueryError, QueryRecord, QueryRequest, QueryState
from service.model.query.replicas import SeenReplica
from service.model.query.results import Chunk, Column, Manifest
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from service.model.query.verification import Verification
from service.model.tables.tables import TableName
from service.ports.stores.result_files import StoredFile
from service.query.explaining.explain import explain
from service.query.explaining.planning_service import Planning
from service.query.explaining.query_explainer import QueryExplainer
from service.query.lookup.known_queries import KnownQueries
from service.query.lookup.query_overview import QueryOverview
from service.query.lookup.query_results import Form, QueryResults, ResultChunk, ResultFile
from service.query.query_service import QueryService, Submission
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_status import QueryStatus
from service.tracing import current
from tests.fakes.arrow_file import FakeArrowFile
from tests.fakes.formatted_files import FakeFormattedFiles
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_history import FakeQueryHistory
from tests.fakes.query_records import applied, refused

ROWS = pa.table({"d_moy": pa.array([1, 2, 3], pa.int32()), "name": ["a", None, 'b,"c"']})
COLUMNS_DESCRIBED = (Column("d_moy", "INT", is_nullable=True),)
SCAN = ScanRecord(
    "lake.tpcds.store_returns",
    7,
    PruningMetrics(
        partitions=Selection(2003, 366),
        manifests=Selection(9, 3),
        data_files=Selection(2003, 366),
        bytes=Selection(25_600_000, 4_900_000),
        rows=Selection(287_867, 55_440),
        planning_ms=12,
    ),
)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

REWRITES = (
    RewriteRecord(RewriteKind.LOCAL_RELATION, "lake.tpcds.date_dim", "366 rows where d_day_name <> '<b>'"),
    RewriteRecord(RewriteKind.NATIVE_PRUNING_OFF),
)


@dataclass
class Query:
    """A query that the fake stores."""

    request: QueryRequest
    record: QueryRecord
    failure: GatewayError | None = None
    finished: Future[None] = field(default_factory=Future)


class FakeQueries(QueryService):
    """Every query succeeds with `rows` at once, unless its SQL is in `failures` or `unfinished`."""

    def __init__(self, rows: pa.Table = ROWS, chunk_rows: int = 2) -> None:
        self.rows = rows
        self.place: QueuePlace | None = None
        self.chunk_rows = chunk_rows
        self.failures: dict[str, GatewayError] = {}
        self.unfinished: set[str] = set()
        self.by_id: dict[UUID, Query] = {}
        self.refusal: Exception | None = None
        self.described: list[QueryRequest] = []
        self.descriptions: dict[str, tuple[Column, ...]] = {}
        """The columns of texts that are described; others have `COLUMNS_DESCRIBED`."""
        self.replicas: list[SeenReplica] = []
        self.waits_asked_for = 0
        self.is_waited_for = threading.Event()
        self.stopped: list[Planning[Any]] = []
        self.verification: Verification | None = None
        self.scan = SCAN
        self.is_expired = False
        self.is_truncated = False
        self.is_gone_before_its_rows = False
        self.is_gone_after_its_first_rows = False
        self.has_files = True
        self.formatted = FakeFormattedFiles()
        self.has_failures_in_memory = True
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.is_draining = False
        self.progress: QueryProgress | None = None
        """How far each unfinished query is."""
        self.known = FakeKnown(self)
        self.results = FakeResults(self)
        self.explainer = FakeExplainer(self)
        self.overview = FakeOverview(self)

    def may_block(self, request: QueryRequest) -> bool:
        return request.request_id is not None

    def submit(
        self,
        request: QueryRequest,
        caller: str,
        access: Access,  # noqa: ARG002
        roles: Collection[str] = (),  # noqa: ARG002
    ) -> Submission:
        if self.refusal is not None:
            raise self.refusal
        if self.is_draining:
            raise ShuttingDown
        for query_id, known in self.by_id.items():
            sent_before = (known.record.caller, known.request.request_id) == (caller, request.request_id)
            if request.request_id is not None and sent_before:
                if known.request.fingerprint() != request.fingerprint():
                    raise RequestIdReused
                return Submission(query_id, is_reused=True)
        query_id = uuid4()
        trace = current().context
        record = QueryRecord(
            query_id,
            caller,
            request.sql,
            QueryState.RUNNING,
            NOON,
            catalog=request.catalog,
            schema=request.schema,
            trace=trace,
        )
        self.by_id[query_id] = Query(request, record)
        if request.sql not in self.unfinished:
            self.finish(query_id)
        return Submission(query_id, is_reused=False)

    def finish(self, query_id: UUID) -> None:
        query = self.by_id[query_id]
        failure = self.failures.get(query.request.sql)
        if failure is None:
            self._end(query, QueryState.SUCCEEDED, None)
        else:
            self._end(query, QueryState.FAILED, failure)

    def _end(self, query: Query, state: QueryState, failure: GatewayError | None) -> None:
        error = QueryError(failure.code, failure.detail) if failure else None
        query.record = replace(
            query.record,
            state=state,
            error=error,
            scans=(self.scan,),
            filters=(applied(), refused()),
            rewrites=REWRITES,
            spark_plan="* Scan",
            parse_ms=3,
            detect_ms=2,
            filters_ms=1,
            verification=self.verification,
            planning_ms=46,
            running_ms=5,
        )
        query.failure = failure if self.has_failures_in_memory else None
        query.finished.set_result(None)

    def finished(self, query_id: UUID) -> Future[None]:
        self.waits_asked_for += 1
        self.is_waited_for.set()
        return self.by_id[query_id].finished

    def status(self, query_id: UUID, caller: str) -> QueryStatus:
        self.may_answer.wait()
        query = self._query(query_id, caller)
        is_there = query.record.state is QueryState.SUCCEEDED and not self.is_expired
        manifest = self._manifest(query.request) if is_there else None
        progress = None if query.record.state.is_final else self.progress
        format_ = query.request.format
        return QueryStatus(query.record, 6, manifest, query.failure, format_, progress, self.place)

    def chunk(self, query_id: UUID, index: int, caller: str) -> ResultChunk:
        query = self._query(query_id, caller)
        if query.record.state is not QueryState.SUCCEEDED:
            raise ChunkNotFound("The query has no result.")
        if self.is_expired or self.is_gone_before_its_rows or (index and self.is_gone_after_its_first_rows):
            raise ResultExpired
        manifest = self._manifest(query.request)
        if index >= len(manifest.chunks) or not query.record.state.is_final:
            raise ChunkNotFound
        chunk = manifest.chunks[index]
        rows = self.rows_of(query.request).slice(chunk.row_offset, chunk.row_count)
        return ResultChunk(manifest, chunk, rows, query.request.format)

    def result_file(self, query_id: UUID, caller: str) -> ResultFile:
        first = self.chunk(query_id, 0, caller)
        rows = self.rows_of(self._query(query_id, caller).request)
        stream = FakeArrowFile(rows, lambda: not self.is_gone_after_its_first_rows, self.chunk_rows)
        return ResultFile(first.manifest, stream if self.has_files else None, first.format)

    def cancel(self, query_id: UUID, caller: str) -> None:
        query = self._query(query_id, caller)
        if not query.record.state.is_final:
            self._end(query, QueryState.CANCELED, QueryCanceled())

    def cancel_any(self, query_id: UUID) -> None:
        query = self.by_id.get(query_id)
        if query is None:
            raise QueryNotFound
        self.cancel(query_id, query.record.caller)

    def explain(self, query_id: UUID, caller: str) -> Explanation:
        record = self._query(query_id, caller).record
        return replace(explain(record), progress=None if record.state.is_final else self.progress)

    def plan(self, request: QueryRequest, caller: str, access: Access) -> Planning[Explanation]:
        """Returns a planning that has ended, unless the SQL is in `unfinished`."""
        if self.refusal is not None:
            raise self.refusal
        handle = QueryHandle(uuid4(), request, caller, access, NOON, 0)
        planning = Planning(handle, lambda query, _: self._plan(query))
        if request.sql not in self.unfinished:
            planning.end(self.failures.get(request.sql) or self._plan(planning.query))
        return planning

    def describe(self, request: QueryRequest, caller: str, access: Access) -> Planning[Description]:
        """Returns a description that is there, unless the SQL is in `unfinished`; `:year` is a parameter."""
        if self.refusal is not None:
            raise self.refusal
        self.described.append(request)
        handle = QueryHandle(uuid4(), request, caller, access, NOON, 0)
        parameters = (ParameterType("year", "INT"),) if ":year" in request.sql else ()
        described = Description(self.descriptions.get(request.sql, COLUMNS_DESCRIBED), parameters)
        planning = Planning(handle, lambda _query, _ports: described)
        if request.sql not in self.unfinished:
            planning.end(self.failures.get(request.sql) or described)
        return planning

    def _plan(self, query: QueryHandle) -> Explanation:
        record = replace(
            query.record,
            scans=(SCAN,),
            filters=(applied(), refused()),
            rewrites=REWRITES,
            spark_plan="* Scan",
        )
        return replace(explain(record), query_id=None, state=PLANNED)

    def _query(self, query_id: UUID, caller: str) -> Query:
        query = self.by_id.get(query_id)
        if query is None or query.record.caller != caller:
            raise QueryNotFound(f"There is no query {query_id}.")
        return query

    def rows_of(self, request: QueryRequest) -> pa.Table:  # noqa: ARG002
        """The whole result of a query."""
        return self.rows

    @staticmethod
    def type_name(kind: pa.DataType) -> str:
        """The SQL type of a column."""
        return str(kind).upper()

    def _manifest(self, request: QueryRequest) -> Manifest:
        rows = self.rows_of(request)
        starts = range(0, rows.num_rows, self.chunk_rows)
        chunks = tuple(
            Chunk(index, start, min(self.chunk_rows, rows.num_rows - start))
            for index, start in enumerate(starts)
        )
        columns = tuple(
            Column(column.name, self.type_name(column.type), column.nullable) for column in rows.schema
        )
        return Manifest(columns, rows.num_rows, rows.nbytes, chunks, self.is_truncated)

    def begin_drain(self) -> None:
        self.is_draining = True

    def is_drained(self) -> bool:
        return all(query.record.state.is_final for query in self.by_id.values())

    def close(self) -> None:
        for query in self.by_id.values():
            if not query.record.state.is_final:
                self._end(query, QueryState.CANCELED, QueryCanceled())


class FakeKnown(KnownQueries):
    """Knows the queries that the fake stores."""

    def __init__(self, queries: FakeQueries) -> None:
        self._queries = queries

    def sent_as(self, request_id: UUID, caller: str) -> UUID:
        for query_id, query in self._queries.by_id.items():
            if (query.record.caller, query.request.request_id) == (caller, request_id):
                return query_id
        raise QueryNotFound(f"There is no query {request_id}.")


class FakeResults(QueryResults):
    """Reads the fake's rows."""

    def __init__(self, queries: FakeQueries) -> None:
        self._queries = queries

    def chunk(self, query_id: UUID, index: int, caller: str) -> ResultChunk:
        return self._queries.chunk(query_id, index, caller)

    def file(self, query_id: UUID, caller: str, formatted_as: str = "") -> ResultFile:
        found = self._queries.result_file(query_id, caller)
        return replace(found, formatted=self._queries.formatted.find(query_id, formatted_as))

    def formatted(self, query_id: UUID, caller: str, formatted_as: str, form: Form) -> StoredFile | None:
        found = self._queries.result_file(query_id, caller)
        if not self._queries.has_files:
            return None
        count = len(found.manifest.chunks)
        chunks = (self._queries.chunk(query_id, index, caller).rows for index in range(count))
        files = self._queries.formatted
        return files.find(query_id, formatted_as) or files.write(query_id, formatted_as, form(chunks))


class FakeExplainer(QueryExplainer):
    """Explains, plans and describes as the fake says."""

    def __init__(self, queries: FakeQueries) -> None:
        self._queries = queries

    def explain(self, query_id: UUID, caller: str) -> Explanation:
        return self._queries.explain(query_id, caller)

    def plan(self, request: QueryRequest, caller: str, access: Access) -> Planning[Explanation]:
        return self._queries.plan(request, caller, access)

    def describe(self, request: QueryRequest, caller: str, access: Access) -> Planning[Description]:
        return self._queries.describe(request, caller, access)

    def stop_planning(self, planning: Planning[Any]) -> None:
        self._queries.stopped.append(planning)


class FakeOverview(QueryOverview):
    """Lists the queries that the fake stores."""

    def __init__(self, queries: FakeQueries) -> None:
        self._queries = queries

    def list_queries(self, listing: QueryListing) -> Sequence[QuerySummary]:
        shown = [summary_of(query.record, elapsed_ms=6) for query in self._queries.by_id.values()]
        newest_first = sorted(shown, key=lambda summary: summary.position, reverse=True)
        return [summary for summary in newest_first if listing.takes(summary)][: listing.limit]

    def places(self, query_ids: Iterable[UUID]) -> Mapping[UUID, QueuePlace]:
        return {} if self._queries.place is None else dict.fromkeys(query_ids, self._queries.place)

    def replicas(self, limit: int) -> Sequence[SeenReplica]:
        return self._queries.replicas[:limit]

    def recent_pruning(self, table: TableName) -> TablePruning | None:
        found = self.pruning_summary(None, str(table)).tables
        return next((pruning for pruning in found if pruning.table == str(table)), None)

    def pruning_summary(self, since: datetime | None, table: str | None) -> PruningSummary:
        store = FakeMetricsStore()
        store.record([query.record for query in self._queries.by_id.values()])
        beginning = since or NOON
        return PruningSummary(beginning, FakeQueryHistory(store).pruning(beginning, table))
