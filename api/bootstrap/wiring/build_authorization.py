"""Builds the parts of authorization from the settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from api.bootstrap.settings.callers.authorization import Authorization
from service.adapters.audit.postgres_audit_log import PostgresAuditLog
from service.adapters.clock import SystemClock
from service.adapters.policies.postgres_policies import PostgresPolicies
from service.adapters.telemetry.policy_collector import PolicyCollector
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.policies.live_policies import LivePolicies, PolicyTimes
from service.policies.manage_policies import PolicyBounds, PolicyService
from service.ports.stores.audit_log import AuditLog
from spark_session.engine.policy_checks import SparkPolicyChecker
from spark_session.vetting.functions import POLICY_SAFE


def build_policies(settings: Settings, components: Components, metrics: QueryMetrics) -> PolicyService:
    """Returns the policies in the metrics store. They are renewed until the components are closed."""
    store = _store(components)
    live = None
    if settings.authorization is Authorization.POLICIES:
        times = PolicyTimes(settings.policies_poll_s, settings.policies_max_age_s)
        live = LivePolicies(store, SystemClock(), times)
        components.stack.callback(live.close)
        live.start()
        metrics.watch(PolicyCollector(live.signs))
    return _service(settings, components, store, live)


@contextmanager
def opened_policies(settings: Settings) -> Iterator[tuple[PolicyService, AuditLog]]:
    """Opens the same for a command, and the audit log beside it.

    An engine is started only to check row filters and masks.

    Raises:
        CannotStart: this version cannot use the metrics store.
    """
    with ExitStack() as stack:
        components = Components(settings=settings, stack=stack)
        log = PostgresAuditLog(components.migrated_store_url)
        stack.callback(log.close)
        yield _service(settings, components, _store(components), None), log


def _store(components: Components) -> PostgresPolicies:
    store = PostgresPolicies(components.migrated_store_url)
    components.stack.callback(store.close)
    return store


def _service(
    settings: Settings, components: Components, store: PostgresPolicies, live: LivePolicies | None
) -> PolicyService:
    bounds = PolicyBounds(
        settings.policies_max_count, settings.policies_max_expression_bytes, settings.policies_max_checks
    )
    checker = SparkPolicyChecker(lambda: components.engine.session, POLICY_SAFE)
    return PolicyService(store, checker, lambda: components.all_catalogs.tables(), bounds, live)
