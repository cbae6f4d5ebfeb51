"""The texts of queries without views, as they are brought up to date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.query.reuse import QueryFacts
from service.model.tables.tables import TableFacts, TableName
from service.ports.stores.reusable_results import ViewStates
from service.query.filtering.prune import Pruner
from service.query.registry.query_handle import QueryHandle


class ExpandedTexts:
    """Expands views as filters need them, where the engine confirms that the text means the same.

    Any thread may call it.
    """

    def __init__(self, pruner: Pruner, views: ViewStates) -> None:
        self._pruner = pruner
        self._views = views

    def of(self, query: QueryHandle, facts: QueryFacts, tables: Mapping[TableName, TableFacts]) -> str:
        """Returns the query's text over tables alone, which are these.

        Raises:
            NotRefreshable: a view cannot be expanded, or it, or a table's columns, have changed since then.
        """
        sql = query.text.sql
        if not facts.plan.views:
            return sql
        reading = self._pruner.expanded(replace(query.request, sql=sql), query.access)
        views = {view.name.in_lower_case() for view in facts.plan.views}
        if reading is None or views != {view.in_lower_case() for view in reading.expanded_views}:
            raise NotRefreshable(RefreshOutcome.VIEW)
        known = {name.in_lower_case(): table for name, table in tables.items()}
        has_same_columns = all(
            _columns(table) == _columns(known.get(table_at.name.in_lower_case()))
            for table_at, table in reading.facts.items()
        )
        # A state is that of one definition: it is still the one of the facts after the view was expanded.
        if not has_same_columns or self._views.states_of(facts.views) != facts.views:
            raise NotRefreshable(RefreshOutcome.CHANGED_WHILE_READ)
        return reading.parsed.sql


def _columns(table: TableFacts | None) -> tuple[object, ...] | None:
    return None if table is None else (table.table_uuid, table.schema_id)
