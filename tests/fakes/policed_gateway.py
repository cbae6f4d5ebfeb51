"""A gateway in memory whose services ask the access of each request, as the real ones do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeVar
from uuid import UUID, uuid4

import pyarrow as pa

from api.http.requests.stream_request import stream_definition
from service.adapters.catalogs.iceberg_schema_json import schema_from_json
from service.adapters.clock import SystemClock
from service.adapters.sources.find import FoundSources
from service.adapters.sources.storage import SourceAccess
from service.adapters.sources.stream_sources import AllowedStreamSources, AllowedTopics
from service.errors.gateway_error import GatewayError
from service.errors.policy_errors import TableAccessDenied
from service.errors.table_errors import TableNotFound
from service.gateway import Gateway
from service.ingest.streaming.stream_ports import StreamPace, StreamPorts
from service.ingest.streaming.stream_service import StreamService
from service.model.ingest.sources import SourceBounds
from service.model.ingest.writing import TableKey, WritableTable
from service.model.policies.actions import Action
from service.model.policies.decisions import Access
from service.model.policies.read_plan import ReadTable
from service.model.query.description import Description
from service.model.query.explanation import Explanation
from service.model.query.query import QueryRecord, QueryRequest
from service.model.query.scan_metrics import ScanRecord
from service.model.query.scan_predicates import ScanPredicate
from service.model.tables.schemas import Field, Primitive, TableSchema
from service.model.tables.tables import TableColumn, TableFacts, TableListing, TableName
from service.policies.granted_reads import allow_table
from service.policies.live_policies import LivePolicies
from service.policies.require import may
from service.query.explaining.planning_service import Planning
from service.query.lookup.query_results import ResultChunk
from service.query.query_service import Submission
from service.query.registry.query_status import QueryStatus
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import TABLE, FakeGateway
from tests.fakes.ingest_service import FakeIngests
from tests.fakes.layout_trials import FakeTrials
from tests.fakes.maintenance import FakeMaintenances
from tests.fakes.micro_batches import FakeStreamQueries
from tests.fakes.policies import fake_policies
from tests.fakes.queries import NOON, SCAN, FakeQueries
from tests.fakes.query_records import scan, short_record
from tests.fakes.stream_store import FakeStreamStore

FIELDS = (Field(1, "id", Primitive("long")), Field(2, "card", Primitive("string")))
COLUMNS = (
    TableColumn(1, "id", "long", is_required=False),
    TableColumn(2, "card", "string", is_required=False),
)
ROWS = pa.table({"id": [1, 2], "card": ["4111", "4242"]})
FOLDER = "file:///inbox"
SELECT_FROM = "SELECT * FROM "
T = TypeVar("T")


class PolicedQueries(FakeQueries):
    """Reads one table by `SELECT * FROM name`: of a filtered one the first row, of a masked one no card."""

    def __init__(self, tables: Mapping[TableName, TableFacts]) -> None:
        super().__init__(ROWS)
        self._tables = tables
        self._seen: dict[UUID, pa.Table] = {}

    def submit(
        self, request: QueryRequest, caller: str, access: Access, roles: Collection[str] = ()
    ) -> Submission:
        found = self._read(request, access)
        if isinstance(found, GatewayError):
            self.failures[request.sql] = found
        else:
            self.failures.pop(request.sql, None)
        self.scan = _scan(request)
        submission = super().submit(request, caller, access, roles)
        if isinstance(found, pa.Table):
            self._seen[submission.query_id] = found
        return submission

    def plan(self, request: QueryRequest, caller: str, access: Access) -> Planning[Explanation]:
        return self._planned(super().plan(request, caller, access), access)

    def describe(self, request: QueryRequest, caller: str, access: Access) -> Planning[Description]:
        return self._planned(super().describe(request, caller, access), access)

    def _planned(self, planning: Planning[T], access: Access) -> Planning[T]:
        found = self._read(planning.query.request, access)
        if not isinstance(found, GatewayError):
            return planning
        failed = Planning(planning.query, planning.work)
        failed.end(found)
        return failed

    def status(self, query_id: UUID, caller: str) -> QueryStatus:
        self.rows = self._seen.get(query_id, ROWS)
        return super().status(query_id, caller)

    def chunk(self, query_id: UUID, index: int, caller: str) -> ResultChunk:
        self.rows = self._seen.get(query_id, ROWS)
        return super().chunk(query_id, index, caller)

    def _read(self, request: QueryRequest, access: Access) -> pa.Table | GatewayError:
        name = TableName.of(request.sql.removeprefix(SELECT_FROM))
        if name not in self._tables:
            # As `as_seen` of a query's life says it.
            is_known = may(access, Action.DESCRIBE, name)
            return TableNotFound(str(name)) if is_known else TableAccessDenied(name, Action.SELECT)
        try:
            hidden = allow_table(ReadTable(name, name.parts, None, ()), access)
        except TableAccessDenied as refused:
            return refused
        rows = ROWS if hidden.row_filter is None else ROWS.slice(0, 1)
        masked = pa.array([None] * rows.num_rows, pa.string())
        return rows.set_column(1, "card", masked) if hidden.is_masked("card") else rows


class PolicedGateway(FakeGateway):
    """A fake gateway with these tables, decided by `live`. Ingests and streams are the real services."""

    def __init__(self, tables: tuple[TableName, ...], live: LivePolicies) -> None:
        # The gateway that it extends asks for its own table, which is not one of these.
        self.facts = {TABLE: facts_of_empty_table(TABLE)}
        super().__init__()
        self.facts = {name: replace(facts_of_empty_table(name, COLUMNS), record_count=2) for name in tables}
        self.queries: PolicedQueries = PolicedQueries(self.facts)
        self._policies = live
        self._policy_service = fake_policies(self.tables, live=live)
        catalogs = FakeCatalogs(tables=[replace(facts, data_file_count=3) for facts in self.facts.values()])
        self.maintenances = FakeMaintenances(catalogs, FakeClock(NOON))
        self._layout_trials = FakeTrials(self.layout_advice, catalogs, FakeClock(NOON))
        self.real_ingests = FakeIngests(*map(_writable, tables))
        self.ingests = self.real_ingests  # type: ignore[assignment]
        self.recorded.record([_filtered(name) for name in tables])
        self.stream_store = FakeStreamStore()
        self.real_streams = _streams(self.stream_store, self.real_ingests)

    @staticmethod
    def unused() -> Gateway:
        """The factory of an app that is only described."""
        raise AssertionError("The app was started.")

    @property
    def streams(self) -> StreamService:  # type: ignore[override]
        return self.real_streams

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        found = (
            name for name in self.facts if catalog in (None, name.catalog) and schema in (None, name.schema)
        )
        return TableListing(tuple(found), ())

    def table(self, name: TableName) -> TableFacts:
        if name not in self.facts:
            raise TableNotFound(str(name))
        return replace(self.facts[name], data_file_count=3, snapshot_id=7)

    def close(self, within_s: float | None = None) -> None:
        self.real_streams.runner.close(5)
        super().close(within_s)
        self.real_ingests.close(5)


def _filtered(table: TableName) -> QueryRecord:
    """Returns a query that was filtered by both columns."""
    predicates = (ScanPredicate("id", ((1, 1),)), ScanPredicate("card", (("4111", "4111"),)))
    scanned = replace(scan(str(table), 3, 1), predicates=predicates)
    return replace(short_record(NOON), scans=(scanned,))


def _writable(name: TableName) -> WritableTable:
    return WritableTable(TableKey(name), uuid4(), 2, TableSchema(0, FIELDS), 0, (), (), b"")


def _streams(store: FakeStreamStore, ingests: FakeIngests) -> StreamService:
    access = SourceAccess((FOLDER,))
    sources = AllowedStreamSources(FoundSources(access, SourceBounds()), access, AllowedTopics(()))
    ports = StreamPorts(store=store, queries=FakeStreamQueries(), sources=sources, clock=SystemClock())
    read: Callable[..., object] = stream_definition
    return StreamService(
        ports,
        ingests,
        lambda body: read(body, schema_from_json),  # type: ignore[arg-type,return-value]
        StreamPace(running_at_most=10_000),
    )


def _scan(request: QueryRequest) -> ScanRecord:
    return replace(SCAN, table=request.sql.removeprefix(SELECT_FROM))
