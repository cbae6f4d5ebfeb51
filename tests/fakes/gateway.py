"""A gateway that answers from memory, and fails or waits when a test says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from service.advice.advice_options import AdviceOptions
from service.advice.advice_service import AdviceBounds, AdviceService
from service.audit.audit import Audit
from service.browsing.catalog_browser import CatalogBrowser
from service.caches import Caches
from service.errors.table_errors import TableNotFound
from service.gateway import Gateway
from service.model.filters.key_set import CachedFilter
from service.model.operations.health import Liveness, PartHealth, PartState, Readiness
from service.model.operations.usage import CacheUse
from service.model.tables.tables import (
    PartitionField,
    Snapshot,
    SortField,
    TableAt,
    TableColumn,
    TableFacts,
    TableListing,
    TableName,
)
from service.ports.stores.policy_store import NoPolicies, Policies
from service.ports.tables.table_layouts import LayoutBounds
from service.sessions.session_service import SessionService
from tests.fakes.api_keys import fake_api_keys
from tests.fakes.audit import FakeAuditLog, FakeTrail
from tests.fakes.catalogs import FakeCatalogs
from tests.fakes.clock import FakeClock
from tests.fakes.contents import FakeContents
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.ingest_gateway import FakeIngestGateway
from tests.fakes.issuer_sessions import fake_issuer_sessions
from tests.fakes.layout_trials import FakeTrials
from tests.fakes.maintenance import FakeMaintenances
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.policies import fake_policies
from tests.fakes.probe_values import FakeProbeValues
from tests.fakes.queries import NOON, FakeQueries
from tests.fakes.query_history import FakeQueryHistory
from tests.fakes.saved_queries import fake_saved_queries
from tests.fakes.sessions import fake_sessions
from tests.fakes.streams import FakeStreams
from tests.fakes.table_layouts import FakeLayouts
from tests.fakes.views import FakeViews
from tests.fakes.watched_metrics import watched_metrics

ADVICE_BOUNDS = AdviceBounds(
    days=7,
    max_scans=100,
    layout=LayoutBounds(max_files=100, max_sampled_files=10, max_sampled_rows=1_000, timeout_s=5),
    options=AdviceOptions(min_file_bytes=100),
    timeout_s=10,
    max_at_once=2,
)
TABLE = TableName("lake", "tpcds", "store_returns")


class TablesOfGateway(FakeCatalogs):
    """The tables that a gateway lists."""

    def __init__(self, gateway: Gateway) -> None:
        super().__init__()
        self._gateway = gateway

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        return self._gateway.tables(catalog, schema)

    def facts_of(self, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
        return {table: self._gateway.table(table.name) for table in tables}


class FakeGateway(Gateway):
    """Its queries are `FakeQueries`; the other services are fakes as well."""

    def __init__(self) -> None:
        self.queries: FakeQueries = FakeQueries()
        self.identifier_fields: tuple[str, ...] = ()
        self.missing_catalogs: tuple[str, ...] = ()
        self.filter_cache = FakeFilterCache()
        self.parts: tuple[PartHealth, ...] = (PartHealth("engine", PartState.UP, is_required=True),)
        self.alive = Liveness()
        self.closed_within_s: float | None = None
        self.is_closed = False
        self.ingests: FakeIngestGateway = FakeIngestGateway()
        self.maintenances: FakeMaintenances = FakeMaintenances(
            FakeCatalogs(tables=[self.table(TABLE)]), FakeClock(NOON)
        )
        self.own_streams = FakeStreams()
        self._api_keys = fake_api_keys()
        self._issuer_sessions = fake_issuer_sessions()
        self.trail = FakeTrail()
        self.audit_log = FakeAuditLog(FakeClock(NOON))
        self.audit = Audit(self.trail, self.audit_log)
        self._sessions = fake_sessions()
        self._saved_queries = fake_saved_queries()
        self.recorded = FakeMetricsStore()
        self.layouts = FakeLayouts(self.table)
        self.contents = FakeContents()
        self.caches = Caches()
        self.caches.add("tables", lambda: CacheUse(2, 300, 1_000, 9, 4), lambda: 2)
        self.caches.add("results", lambda: CacheUse(1, 50, 100))
        self._policies: Policies = NoPolicies()
        self._policy_service = fake_policies(lambda: self.tables())
        self._layout_trials: FakeTrials = FakeTrials(
            self.layout_advice, FakeCatalogs(tables=[self.table(TABLE)]), FakeClock(NOON)
        )

    def use_sessions(self, sessions: SessionService) -> None:
        """Has these sessions from now on."""
        self._sessions = sessions

    @property
    def streams(self) -> FakeStreams:
        return self.own_streams

    def metrics(self) -> bytes:
        metrics = watched_metrics()
        for query in self.queries.by_id.values():
            metrics.count(query.record)
        return metrics.exposition({})

    @property
    def layout_advice(self) -> AdviceService:
        history = FakeQueryHistory(self.recorded)
        return AdviceService(history, self.layouts, FakeClock(NOON), ADVICE_BOUNDS)

    @property
    def layout_trials(self) -> FakeTrials:
        return self._layout_trials

    @property
    def browser(self) -> CatalogBrowser:
        return CatalogBrowser(
            {name.catalog for name in self.tables().tables},
            TablesOfGateway(self),
            self.contents,
            FakeViews(),
            FakeProbeValues(),
            FakeClock(NOON),
        )

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        is_asked = catalog in (None, TABLE.catalog) and schema in (None, TABLE.schema)
        return TableListing((TABLE,) if is_asked else (), self.missing_catalogs)

    def table(self, name: TableName) -> TableFacts:
        if name != TABLE:
            raise TableNotFound(str(name), [str(TABLE)])
        return TableFacts(
            name=name,
            table_uuid=UUID(int=1),
            format_version=2,
            location="file:///data/store_returns",
            schema_id=0,
            spec_id=0,
            snapshot_id=7,
            columns=(TableColumn(1, "sr_returned_date_sk", "long", is_required=False),),
            partition_fields=(PartitionField("day", "sr_returned_date_sk", "identity"),),
            sort_fields=(SortField("sr_item_sk", "identity", "asc", "nulls-first"),),
            snapshots=(Snapshot(7, None, NOON, "append"),),
            record_count=287_867,
            data_file_count=2003,
            total_bytes=25_600_000,
            identifier_fields=self.identifier_fields,
        )

    def filters(self, limit: int) -> Sequence[CachedFilter]:
        return self.filter_cache.entries(limit)

    def forget_filters(self, fingerprint: str | None = None) -> int:
        return self.filter_cache.forget(fingerprint)

    def liveness(self) -> Liveness:
        return self.alive

    def readiness(self) -> Readiness:
        return Readiness(self.parts)

    def close(self, within_s: float | None = None) -> None:
        self.closed_within_s = within_s
        self.queries.close()
        self.ingests.close(0)
        self.is_closed = True
