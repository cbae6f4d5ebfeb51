"""Reads the state of an aggregation from its tables: all of it, or that of the files that were added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.tables.tables import TableFacts, TableName
from service.ports.bounded_calls import BoundedCalls, CallGivenUp
from service.ports.engine.query_engine import Engine, EngineResult
from service.pruning.aggregation.texts import state_sql
from service.query.execution.run_pruned import statement_of
from service.query.filtering.detection.read_text import calls_for
from service.query.filtering.prune import Pruner
from service.query.filtering.pruned_query import PrunedQuery
from service.query.refresh.pinned_texts import added_sql, pinned_sql
from service.query.refresh.reads import has_read_pinned
from service.query.refresh.refresh_plans import Refreshing
from service.query.registry.query_handle import QueryHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class StateBounds:
    """The greatest state that is kept."""

    max_rows: int
    max_bytes: int


@dataclass(frozen=True, slots=True)
class ReadState:
    """The rows of a state, and the query that read them."""

    result: EngineResult
    pruned: PrunedQuery


class StateReader:
    """Runs the queries that read states. Any thread may call it."""

    def __init__(
        self, pruner: Pruner, calls: BoundedCalls, catalog_names: frozenset[str], bounds: StateBounds
    ) -> None:
        self._pruner = pruner
        self._calls = calls
        self._catalog_names = catalog_names
        self._bounds = bounds

    def read(
        self,
        query: QueryHandle,
        refreshing: Refreshing,
        tables: Mapping[TableName, TableFacts],
        engine: Engine,
        since: int | None = None,
    ) -> ReadState:
        """Reads the state at these snapshots; only of the files that the fact got after the one of `since`.

        Raises:
            NotRefreshable: the state is too large, or the tables were not read as they should be.
            GatewayError: the engine failed, or the query has to wait.
        """
        pruned = self._pruned(query, refreshing, tables, since)
        query.prune(pruned)
        statement = replace(
            statement_of(query, pruned.sql),
            relations=pruned.relations,
            properties=pruned.properties,
            row_limit=self._bounds.max_rows,
            byte_limit=self._bounds.max_bytes,
            is_of_state=True,
        )
        result = engine.run(statement)
        if result.is_truncated:
            raise NotRefreshable(RefreshOutcome.STATE_TOO_LARGE)
        growing = None if since is None else refreshing.fact
        if self._pruner.has_moved(pruned) or not has_read_pinned(
            result.reads(), tables, pruned.facts, growing
        ):
            raise NotRefreshable(RefreshOutcome.CHANGED_WHILE_READ)
        return ReadState(result, pruned)

    def _pruned(
        self,
        query: QueryHandle,
        refreshing: Refreshing,
        tables: Mapping[TableName, TableFacts],
        since: int | None,
    ) -> PrunedQuery:
        request = query.request
        sql = state_sql(refreshing.plan.aggregation, refreshing.plan.partials)
        snapshots = {
            name: facts.snapshot_id for name, facts in tables.items() if facts.snapshot_id is not None
        }
        try:
            pinned = calls_for(sql, self._calls).call(
                pinned_sql, sql, self._catalog_names, (request.catalog, request.schema), snapshots
            )
        except CallGivenUp as failure:
            raise NotRefreshable(RefreshOutcome.TOO_COMPLEX) from failure
        if pinned is None:
            raise NotRefreshable(RefreshOutcome.NOT_PINNED)
        pruned = self._pruner.prune(
            replace(request, sql=pinned), query.access, query.is_canceled, takes_late=False
        )
        if since is None:
            return pruned
        added = added_sql(pruned.sql, since, snapshots[refreshing.fact])
        rewritten = None if pruned.rewritten_sql is None else added
        return replace(pruned, sql=added, rewritten_sql=rewritten)
