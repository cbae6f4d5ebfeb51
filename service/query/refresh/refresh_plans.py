"""Decides whether a query may be refreshed, and how its aggregates are kept; asks the engine for types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.bounded_lru import BoundedLru
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
from service.pruning.aggregation.partials import EXACT, KeptAggregates, is_key_type, partial_of
from service.pruning.aggregation.texts import has_argument_type, probe_sql
from service.query.refresh.aggregation_reader import AggregationReader
from service.query.refresh.expanded_texts import ExpandedTexts
from service.query.registry.query_handle import QueryHandle

MAX_PLANS = 1024
MAX_BYTES = 16 << 20
_FIXED_BYTES = 4_000
_LINEAR = frozenset({"DataSourceV2Relation", "Filter", "Join", "Project", "SubqueryAlias"})
"""Rows that are added to what they read only add rows, if the joins are of the right kind."""
_CTES = frozenset({"CTERelationDef", "CTERelationRef", "WithCTE"})
_NODES = _LINEAR | _CTES | {"Aggregate", "GlobalLimit", "LocalLimit", "Offset", "Sort"}
_AGGREGATES = frozenset(
    {
        "Average",
        "BitAndAgg",
        "BitOrAgg",
        "BitXorAgg",
        "BitmapAndAgg",
        "BitmapConstructAgg",
        "BitmapOrAgg",
        "BoolAnd",
        "BoolOr",
        "Count",
        "CountIf",
        "HyperLogLogPlusPlus",
        "Max",
        "Min",
        "Sum",
    }
)
_PASSING = (RefreshOutcome.VIEW, RefreshOutcome.CHANGED_WHILE_READ)
"""Reasons that may be gone at the next try, for the same tables and views."""


@dataclass(frozen=True, slots=True)
class Refreshing:
    """How a text is refreshed when this table of it grows."""

    plan: RefreshPlan
    fact: TableName


class RefreshPlans:
    """Plans texts once, for as long as their tables have the same columns. Any thread may call it."""

    def __init__(self, reader: AggregationReader, texts: ExpandedTexts, kept: KeptAggregates = EXACT) -> None:
        self._reader = reader
        self._texts = texts
        self._kept = kept
        self._known: BoundedLru[object, Refreshing | RefreshOutcome] = BoundedLru(MAX_PLANS, MAX_BYTES)

    def of(
        self, key: str, query: QueryHandle, facts: QueryFacts, tables: Mapping[TableName, TableFacts]
    ) -> Refreshing:
        """Returns how the query is refreshed. `key` is equal for equal texts, policies and views.

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
                if refused.reason in _PASSING:
                    raise
                found = refused.reason
            self._known.put((key, schemas), found, _FIXED_BYTES + 4 * len(query.request.sql))
        if isinstance(found, RefreshOutcome):
            raise NotRefreshable(found)
        return found

    def _planned(
        self, query: QueryHandle, facts: QueryFacts, tables: Mapping[TableName, TableFacts]
    ) -> Refreshing:
        _check_shape(facts)
        text = self._reader.read(query, self._texts.of(query, facts, tables), tables)
        types = self._reader.columns(query, probe_sql(text.aggregation))
        partials = _partials(text.aggregation, types, self._kept)
        columns = text.columns
        if text.surroundings is not None:
            columns = self._reader.columns(query, query.text.sql)
        return Refreshing(RefreshPlan(text.aggregation, partials, columns, text.surroundings), text.fact)


def _check_shape(facts: QueryFacts) -> None:
    plan, shape = facts.plan, facts.shape
    if not shape.nodes <= _NODES:
        raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)
    if not shape.aggregates <= _AGGREGATES:
        raise NotRefreshable(RefreshOutcome.AGGREGATE)
    if shape.aggregations > 1:
        raise NotRefreshable(RefreshOutcome.AGGREGATED_TWICE)
    if not shape.below_aggregations <= _LINEAR:
        raise NotRefreshable(RefreshOutcome.SUBQUERY)
    if plan.unknown or len(facts.reads) != len(plan.tables):
        raise NotRefreshable(RefreshOutcome.TABLES)
    if any(table.metadata or table.hidden_columns for table in plan.tables):
        raise NotRefreshable(RefreshOutcome.TABLES)


def _partials(
    aggregation: Aggregation, types: tuple[Column, ...], kept: KeptAggregates
) -> tuple[Partial, ...]:
    left = iter(column.type_name for column in types)
    keys = [next(left) for _ in aggregation.keys]
    if not all(map(is_key_type, keys)):
        is_float = any(key in ("FLOAT", "DOUBLE") for key in keys)
        raise NotRefreshable(RefreshOutcome.FLOATING_POINT if is_float else RefreshOutcome.TYPE)
    arguments = [next(left) if has_argument_type(call.name) else "" for call in aggregation.calls]
    results = list(left)
    return tuple(
        partial_of(call, number, arguments[number], results[number], kept)
        for number, call in enumerate(aggregation.calls)
    )
