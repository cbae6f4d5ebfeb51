"""The entry point of the service layer: everything that the HTTP edge may ask for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from service.advice.advice_service import AdviceService
from service.advice.trial_service import TrialService
from service.audit.audit import NO_AUDIT, Audit
from service.authentication.issuer_logins import IssuerSessions
from service.authentication.manage_keys import ApiKeys
from service.browsing.catalog_browser import CatalogBrowser
from service.caches import Caches
from service.errors.credential_errors import AuthenticationDown
from service.errors.policy_errors import PoliciesDown
from service.errors.unavailable import EngineNotReady, MetricsStoreDown, ShuttingDown
from service.ingest.ingest_service import IngestService
from service.ingest.streaming.stream_service import StreamService
from service.maintenance.maintenance_service import MaintenanceService
from service.model.authentication.principals import Principal
from service.model.filters.key_set import CachedFilter
from service.model.operations.health import Liveness, Readiness, Vitals
from service.model.operations.usage import PoolUse
from service.model.policies.decisions import Access
from service.model.tables.tables import TableFacts, TableListing, TableName
from service.part_probes import PartProbes
from service.policies.manage_policies import PolicyService
from service.ports.filters.filter_cache import FilterCache
from service.ports.stores.policy_store import NoPolicies, Policies
from service.ports.stores.query_store import QueryStore
from service.ports.telemetry.query_metrics import Metrics
from service.query.query_service import QueryService
from service.saved_queries.saved_query_service import SavedQueryService
from service.sessions.session_service import SessionService

ENDING_S = 1.0
"""How long streams and commits may take to end when the queries used up the whole shutdown time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayBounds:
    """How long a shutdown and a health check may take, and how long the engine may be down."""

    shutdown_timeout_s: float
    health_timeout_s: float = 2.0
    engine_max_down_s: float = 315.0


class Gateway:
    """One service for each thing that callers may ask for. Any thread may call any method.

    Queries, ingests, streams and maintenance have services of their own: `queries`, `ingests`, `streams` and
    `maintenances`. `audit` is the way to the audit log, and `caches` are those of this process.
    """

    def __init__(
        self,
        *,
        queries: QueryService,
        ingests: IngestService,
        maintenances: MaintenanceService,
        store: QueryStore,
        filter_cache: FilterCache,
        metrics: Metrics,
        bounds: GatewayBounds,
        streams: StreamService | None = None,
        on_closed: Callable[[], None] = lambda: None,
        api_keys: ApiKeys | None = None,
        audit: Audit = NO_AUDIT,
        policies: Policies | None = None,
        policy_service: PolicyService | None = None,
        sessions: SessionService | None = None,
        browser: CatalogBrowser | None = None,
        saved_queries: SavedQueryService | None = None,
        issuer_sessions: IssuerSessions | None = None,
        layout_advice: AdviceService | None = None,
        layout_trials: TrialService | None = None,
        caches: Caches | None = None,
    ) -> None:
        self.audit = audit
        self.caches = caches or Caches()
        self.queries = queries
        self.ingests = ingests
        self.maintenances = maintenances
        self._streams = streams
        self._api_keys = api_keys
        self._issuer_sessions = issuer_sessions
        self._policies = policies or NoPolicies()
        self._policy_service = policy_service
        self._sessions = sessions
        self._browser = browser
        self._saved_queries = saved_queries
        self._layout_advice = layout_advice
        self._layout_trials = layout_trials
        self._metrics = metrics
        self._filter_cache = filter_cache
        self._bounds = bounds
        self._on_closed = on_closed
        self._probes = PartProbes(
            {
                "metricsStore": lambda: [store.health()],
                "filterCache": lambda: [filter_cache.health()],
                "catalogs": queries.ports.catalogs.health,
                "resultStore": queries.ports.results_health,
            },
            bounds.health_timeout_s,
        )
        self._closing = threading.Event()

    @property
    def streams(self) -> StreamService:
        """All streams.

        Raises:
            ShuttingDown: the gateway accepts nothing more, and runs no streams either.
        """
        if self._closing.is_set() or self._streams is None:
            raise ShuttingDown
        return self._streams

    @property
    def api_keys(self) -> ApiKeys:
        """The administration of API keys.

        Raises:
            AuthenticationDown: this gateway has no store of API keys.
        """
        if self._api_keys is None:
            raise AuthenticationDown
        return self._api_keys

    @property
    def issuer_sessions(self) -> IssuerSessions:
        """The sessions of browsers whose users an issuer has logged in.

        Raises:
            AuthenticationDown: this gateway has no store of them.
        """
        if self._issuer_sessions is None:
            raise AuthenticationDown
        return self._issuer_sessions

    def access_of(self, principal: Principal) -> Access:
        """Returns what the principal may do, by the policies of this moment."""
        return self._policies.access_of(principal)

    @property
    def policy_service(self) -> PolicyService:
        """The administration of policies.

        Raises:
            PoliciesDown: this gateway has no store of policies.
        """
        if self._policy_service is None:
            raise PoliciesDown
        return self._policy_service

    @property
    def sessions(self) -> SessionService:
        """The sessions of callers.

        Raises:
            MetricsStoreDown: this gateway has no store of sessions.
        """
        if self._sessions is None:
            raise MetricsStoreDown
        return self._sessions

    @property
    def saved_queries(self) -> SavedQueryService:
        """The queries that callers have saved.

        Raises:
            MetricsStoreDown: this gateway has no store of saved queries.
        """
        if self._saved_queries is None:
            raise MetricsStoreDown
        return self._saved_queries

    @property
    def layout_advice(self) -> AdviceService:
        """Advice on the layout of tables.

        Raises:
            MetricsStoreDown: this gateway has no records of scans.
        """
        if self._layout_advice is None:
            raise MetricsStoreDown
        return self._layout_advice

    @property
    def layout_trials(self) -> TrialService:
        """Trials of that advice.

        Raises:
            MetricsStoreDown: this gateway has no log of trials.
        """
        if self._layout_trials is None:
            raise MetricsStoreDown
        return self._layout_trials

    @property
    def browser(self) -> CatalogBrowser:
        """Lists the contents of catalogs, as far as a principal may know of them.

        Raises:
            EngineNotReady: this gateway cannot list it.
        """
        if self._browser is None:
            raise EngineNotReady
        return self._browser

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        """Every table, or those of one catalog or schema.

        Raises:
            CatalogDown: the catalog that was named does not answer, or none does.
        """
        return self.queries.ports.catalogs.tables(catalog, schema)

    def table(self, name: TableName) -> TableFacts:
        """Returns the table as it is now.

        Raises:
            TableAmbiguous: its name is also that of another table's metadata or version.
            TableNotFound: no table has this name.
            CatalogDown: the catalog does not answer.
        """
        return self.queries.ports.catalogs.facts(name)

    def filters(self, limit: int) -> Sequence[CachedFilter]:
        """Lists the newest entries of the filter cache, at most `limit`, the newest first.

        Raises:
            FilterCacheDown: the cache does not answer.
        """
        return self._filter_cache.entries(limit)

    def forget_filters(self, fingerprint: str | None = None) -> int:
        """Deletes one entry of the filter cache, or all, and returns how many there were.

        Raises:
            FilterCacheDown: the cache does not answer; this process has forgotten them all the same.
        """
        return self._filter_cache.forget(fingerprint)

    def metrics(self) -> bytes:
        """Returns the process's metrics since its start and its current state, in Prometheus' text format."""
        self.ingests.count_backlog()
        vitals = Vitals(self.queries.ports.engine.health(), self.queries.given_up)
        return self._metrics.exposition(self.queries.open(), vitals)

    def liveness(self) -> Liveness:
        """Whether this process can still recover on its own. Returns at once: no part is asked."""
        return Liveness(self.queries.ports.engine.health().down_s, self._bounds.engine_max_down_s)

    def readiness(self) -> Readiness:
        """Reports the health of every part by name. The engine and a worker are required to answer queries.

        So are the policies, if this gateway decides by them.

        The parts are asked at the same time, each within its own bound.
        """
        live = None if self._policy_service is None else self._policy_service.live
        policies = () if live is None else (live.health(),)
        queries = (self.queries.ports.engine.health(), self.queries.workers.health())
        return Readiness((*queries, *policies, *self._probes.ask()))

    def begin_drain(self) -> None:
        """Stops accepting queries, since their results would go with this process. All other work goes on."""
        self.queries.begin_drain()

    def is_drained(self) -> bool:
        """Whether all queries have ended and no client is reading a result or about to begin."""
        return self.queries.is_drained()

    def pools(self) -> Mapping[str, Callable[[], PoolUse]]:
        """Returns, for each kind of worker, a function that reports how busy it is."""
        return self.queries.pools()

    def close(self, within_s: float | None = None) -> None:
        """Accepts nothing more, waits for running work, cancels what is late, and stops the parts.

        All running work shares the operator's bound, or what is left of it. Clients that wait are answered
        right after it.
        """
        timeout_s = self._bounds.shutdown_timeout_s if within_s is None else within_s
        until_ms = self.queries.ports.clock.elapsed_ms() + timeout_s * 1000
        self._closing.set()
        self.queries.stop_taking()
        if self._streams is not None:
            # Before ingests: a micro-batch that is refused would be a failure of its stream.
            self._streams.runner.stop_taking()
        self.ingests.stop_taking()
        self.maintenances.stop_taking()
        if self._layout_trials is not None:
            self._layout_trials.stop_taking()
        self.queries.end(timeout_s)
        if self._streams is not None:
            self._streams.runner.close(self._left_s(until_ms))
        self.ingests.close(self._left_s(until_ms))
        # The next start repeats maintenance that was running; nobody waits for it here.
        self.maintenances.close(0)
        if self._layout_trials is not None:
            self._layout_trials.close(self._left_s(until_ms))
        self.queries.close()
        self._on_closed()

    def _left_s(self, until_ms: float) -> float:
        left_s = (until_ms - self.queries.ports.clock.elapsed_ms()) / 1000
        return max(left_s, min(ENDING_S, self._bounds.shutdown_timeout_s))
