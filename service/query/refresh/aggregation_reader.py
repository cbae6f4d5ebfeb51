"""Reads the aggregation of a text, and has the engine confirm what no text can prove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from service.model.query.query import Parameters
from service.model.query.refresh import Aggregation, NotRefreshable, RefreshOutcome, Surroundings
from service.model.query.results import Column
from service.model.tables.tables import TableFacts, TableName
from service.ports.bounded_calls import BoundedCalls, CallGivenUp
from service.ports.engine.query_engine import Describer, Statement
from service.ports.stores.reusable_results import FactReader
from service.pruning.aggregation.read_aggregation import (
    ReadAggregation,
    read_aggregation,
    split_aggregation,
)
from service.pruning.aggregation.texts import source_sql
from service.query.execution.run_pruned import statement_of
from service.query.filtering.detection.read_text import calls_for
from service.query.registry.query_handle import QueryHandle
from service.query.reuse.table_states import has_these_columns

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AggregatingText:
    """The aggregation of a query, and the columns that it gives. `fact` is the table that may grow."""

    aggregation: Aggregation
    fact: TableName
    columns: tuple[Column, ...]
    surroundings: Surroundings | None


class AggregationReader:
    """Reads texts over tables. Any thread may call it."""

    def __init__(
        self,
        describer: Describer,
        facts: FactReader,
        calls: BoundedCalls,
        catalog_names: frozenset[str],
    ) -> None:
        self._describer = describer
        self._facts = facts
        self._calls = calls
        self._catalog_names = catalog_names

    def read(self, query: QueryHandle, sql: str, tables: Mapping[TableName, TableFacts]) -> AggregatingText:
        """Returns the aggregation of the query with this text.

        Raises:
            NotRefreshable: it has none that is supported.
            GatewayError: the engine does not say.
        """
        request = query.request
        within = (request.catalog, request.schema)
        try:
            found = calls_for(sql, self._calls).call(
                read_aggregation, sql, self._catalog_names, within, dict(tables)
            )
            read = _unless_refused(found)
            self._check_inlined(query, sql, read)
            core = read.text.aggregation
            names = read.columns
            if names is None:
                names = self._confirmed_columns(query, read, tables)
            split = calls_for(core, self._calls).call(split_aggregation, core, read.qualifiers, names)
        except CallGivenUp as failure:
            raise NotRefreshable(RefreshOutcome.TOO_COMPLEX) from failure
        aggregation = _unless_refused(split)
        is_whole = not read.text.before and not read.text.after
        columns = self.columns(query, query.text.sql if is_whole else core)
        if len(columns) != len(aggregation.items):
            raise NotRefreshable(RefreshOutcome.OTHER_COLUMNS)
        around = Surroundings(read.text.before, read.text.after, tuple(column.name for column in columns))
        return AggregatingText(aggregation, read.fact, columns, None if is_whole else around)

    def columns(self, query: QueryHandle, sql: str) -> tuple[Column, ...]:
        """Returns the columns of a text with the query's parameters.

        Raises:
            GatewayError: the engine does not say.
        """
        return self._describer.describe(_statement(query, sql)).columns

    def _check_inlined(self, query: QueryHandle, sql: str, read: ReadAggregation) -> None:
        if read.inlined is None:
            return
        if not self._facts.is_read_alike(_statement(query, sql), read.inlined):
            raise NotRefreshable(RefreshOutcome.CTE)

    def _confirmed_columns(
        self, query: QueryHandle, read: ReadAggregation, tables: Mapping[TableName, TableFacts]
    ) -> tuple[str, ...]:
        """Returns the names of the columns below the aggregation, after a look at how they are made.

        The whole query aggregates once. If this does not happen below, nothing else is there than joins,
        filters and projections: so rows that are added there are those of the rows that are added to a table.
        """
        sql = source_sql(read.source)
        columns = self.columns(query, sql)
        facts = self._facts.facts_of(_statement(query, sql))
        if not has_these_columns(facts.reads, tables):
            raise NotRefreshable(RefreshOutcome.CHANGED_WHILE_READ)
        if facts.shape.aggregations:
            raise NotRefreshable(RefreshOutcome.AGGREGATED_TWICE)
        return tuple(column.name.lower() for column in columns)


def _unless_refused(found: T | RefreshOutcome) -> T:
    if isinstance(found, RefreshOutcome):
        raise NotRefreshable(found)
    return found


def _statement(query: QueryHandle, sql: str) -> Statement:
    statement = statement_of(query, sql)
    return replace(statement, parameters=used(statement.parameters, sql))


def used(parameters: Parameters, sql: str) -> Parameters:
    """Returns the named parameters that the text may use.

    >>> used({}, "SELECT 1")
    {}
    """
    if not isinstance(parameters, Mapping):
        return parameters
    return {name: value for name, value in parameters.items() if f":{name}" in sql}
