"""Decides whether a query may be refreshed, and how its aggregates are kept; asks the engine for types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from service.bounded_lru import BoundedLru
from service.model.query.query import Parameters
from service.model.query.refresh import (
    Aggregation,
    NotRefreshable,
    Partial,
    RefreshOutcome,
    RefreshPlan,
)
from service.model.query.results import Column
from service.model.query.reuse import QueryFacts
from service.model.tables.tables import TableFacts, TableName
from service.ports.bounded_calls import BoundedCalls, CallGivenUp
from service.ports.engine.query_engine import Describer
from service.pruning.aggregation.partials import is_key_type, partial_of
from service.pruning.aggregation.read_aggregation import read_aggregation
from service.pruning.aggregation.texts import has_argument_type, probe_sql
from service.query.execution.run_pruned import statement_of
from service.query.filtering.detection.read_text import calls_for
from service.query.registry.query_handle import QueryHandle

MAX_PLANS = 1024
MAX_BYTES = 16 << 20
_FIXED_BYTES = 4_000
_NODES = frozenset(
    {
        "Aggregate",
        "DataSourceV2Relation",
        "Filter",
        "GlobalLimit",
        "Join",
        "LocalLimit",
        "Offset",
        "Project",
        "Sort",
        "SubqueryAlias",
    }
)
_AGGREGATES = frozenset(
    {
        "Average",
        "BitAndAgg",
        "BitOrAgg",
        "BitXorAgg",
        "BoolAnd",
        "BoolOr",
        "Count",
        "CountIf",
        "Max",
        "Min",
        "Sum",
    }
)


@dataclass(frozen=True, slots=True)
class Refreshing:
    """How a text is refreshed when this table of it grows."""

    plan: RefreshPlan
    fact: TableName


class RefreshPlans:
    """Plans texts once, for as long as their tables have the same columns. Any thread may call it."""

    def __init__(
        self,
        describer: Describer,
        calls: BoundedCalls,
        catalog_names: frozenset[str],
        *,
        merges_floats: bool = False,
    ) -> None:
        """`merges_floats`: as for `partial_of`."""
        self._describer = describer
        self._merges_floats = merges_floats
        self._calls = calls
        self._catalog_names = catalog_names
        self._known: BoundedLru[object, Refreshing | RefreshOutcome] = BoundedLru(MAX_PLANS, MAX_BYTES)

    def of(
        self, key: str, query: QueryHandle, facts: QueryFacts, tables: Mapping[TableName, TableFacts]
    ) -> Refreshing:
        """Returns how the query is refreshed. `key` is equal for equal texts and policies.

        Raises:
            NotRefreshable: it is not.
            GatewayError: the engine does not say.
        """
        schemas = tuple(
            (str(name), tables[name].table_uuid, tables[name].schema_id) for name in sorted(tables)
        )
        found = self._known.get((key, schemas))
        if found is None:
            try:
                found = self._planned(query, facts, tables)
            except NotRefreshable as refused:
                found = refused.reason
            self._known.put((key, schemas), found, _FIXED_BYTES + 4 * len(query.request.sql))
        if isinstance(found, RefreshOutcome):
            raise NotRefreshable(found)
        return found

    def _planned(
        self, query: QueryHandle, facts: QueryFacts, tables: Mapping[TableName, TableFacts]
    ) -> Refreshing:
        _check_shape(facts)
        request, sql = query.request, query.text.sql
        within = (request.catalog, request.schema)
        try:
            read = calls_for(sql, self._calls).call(
                read_aggregation, sql, self._catalog_names, within, dict(tables)
            )
        except CallGivenUp as failure:
            raise NotRefreshable(RefreshOutcome.TOO_COMPLEX) from failure
        if isinstance(read, RefreshOutcome):
            raise NotRefreshable(read)
        columns = self._columns(query, sql)
        if len(columns) != len(read.aggregation.items):
            raise NotRefreshable(RefreshOutcome.OTHER_COLUMNS)
        types = self._columns(query, probe_sql(read.aggregation))
        partials = _partials(read.aggregation, types, self._merges_floats)
        return Refreshing(RefreshPlan(read.aggregation, partials, columns), read.fact)

    def _columns(self, query: QueryHandle, sql: str) -> tuple[Column, ...]:
        statement = statement_of(query, sql)
        return self._describer.describe(
            replace(statement, parameters=used(statement.parameters, sql))
        ).columns


def used(parameters: Parameters, sql: str) -> Parameters:
    """Returns the named parameters that the text may use.

    >>> used({}, "SELECT 1")
    {}
    """
    if not isinstance(parameters, Mapping):
        return parameters
    return {name: value for name, value in parameters.items() if f":{name}" in sql}


def _check_shape(facts: QueryFacts) -> None:
    tables = facts.plan.tables
    if facts.plan.views or facts.plan.unknown or len(facts.reads) != len(tables):
        raise NotRefreshable(RefreshOutcome.TABLES)
    if any(table.metadata or table.hidden_columns for table in tables):
        raise NotRefreshable(RefreshOutcome.TABLES)
    if not facts.shape.aggregates <= _AGGREGATES:
        raise NotRefreshable(RefreshOutcome.AGGREGATE)
    if not facts.shape.nodes <= _NODES:
        raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)


def _partials(
    aggregation: Aggregation, types: tuple[Column, ...], merges_floats: bool
) -> tuple[Partial, ...]:
    left = iter(column.type_name for column in types)
    keys = [next(left) for _ in aggregation.keys]
    if not all(map(is_key_type, keys)):
        is_float = any(key in ("FLOAT", "DOUBLE") for key in keys)
        raise NotRefreshable(RefreshOutcome.FLOATING_POINT if is_float else RefreshOutcome.TYPE)
    arguments = [next(left) if has_argument_type(call.name) else "" for call in aggregation.calls]
    results = list(left)
    return tuple(
        partial_of(call, number, arguments[number], results[number], merges_floats=merges_floats)
        for number, call in enumerate(aggregation.calls)
    )
