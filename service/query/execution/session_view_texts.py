"""Prunes queries over temporary views as queries on what these read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from service.errors.gateway_error import GatewayError
from service.model.filters.filter_record import Reason
from service.model.query.query import QueryRequest
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.sessions.sessions import SessionView
from service.ports.bounded_calls import BoundedCalls, CallGivenUp
from service.ports.stores.reusable_results import FactReader
from service.pruning.sql_text.expand_session_views import WithoutSessionViews, expand_session_views
from service.query.execution.run_pruned import statement_of
from service.query.filtering.detection.read_text import calls_for
from service.query.filtering.prune import Pruner
from service.query.filtering.pruned_query import PrunedQuery
from service.query.registry.query_handle import QueryHandle

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SessionViewTexts:
    """Replaces temporary views by their texts, where the engine reads both alike. Any thread may use it."""

    facts: FactReader
    calls: BoundedCalls
    catalog_names: frozenset[str]

    def pruned(self, query: QueryHandle, asked: QueryRequest, pruner: Pruner) -> PrunedQuery:
        """Returns the query with its scans pruned; as it is written, if its views cannot be replaced."""
        if not asked.pruning.is_enabled:
            return PrunedQuery(asked.sql, otherwise=Reason.DISABLED)
        as_written = PrunedQuery(asked.sql, otherwise=Reason.SESSION_VIEW)
        if not asked.pruning.allows(RewriteKind.VIEW_EXPANDED) or asked.session is None:
            return as_written
        found = self._confirmed(query, asked.sql, asked.session.values.views)
        if found is None:
            return as_written
        pruned = pruner.prune(replace(asked, sql=found.sql), query.access, query.is_canceled)
        if pruned.rewritten_sql is None:
            return replace(pruned, sql=asked.sql)
        records = (
            RewriteRecord(RewriteKind.VIEW_EXPANDED, view, f"reads {', '.join(read) or 'nothing'}")
            for view, read in found.views.items()
        )
        expanded = found.sql if pruned.expanded_sql is None else pruned.expanded_sql
        return replace(pruned, expanded_sql=expanded, rewrites=(*pruned.rewrites, *records))

    def _confirmed(
        self, query: QueryHandle, sql: str, views: Sequence[SessionView]
    ) -> WithoutSessionViews | None:
        size = "".join((sql, *(view.sql for view in views)))
        try:
            found = calls_for(size, self.calls).call(expand_session_views, sql, views, self.catalog_names)
            is_alike = found is not None and self.facts.is_read_alike(statement_of(query, sql), found.sql)
        except (GatewayError, CallGivenUp) as failure:
            # The run fails in the same way, or shows that it does not.
            log.debug("session_views_not_expanded", reason=str(failure))
            return None
        return found if is_alike else None
