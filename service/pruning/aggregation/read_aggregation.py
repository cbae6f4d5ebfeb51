"""Reads the text of a query that may be refreshed, for `BoundedCalls`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.query.refresh import Aggregation, NotRefreshable, RefreshOutcome
from service.model.tables.tables import TableFacts, TableName
from service.ports.bounded_calls import Answer
from service.pruning.aggregation.growing_tables import growing_tables
from service.pruning.aggregation.split import split
from service.pruning.name_resolution.is_readable_again import is_readable_again
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.table_names import table_names


@dataclass(frozen=True, slots=True)
class ReadAggregation:
    """An aggregation, and the table of it that is expected to grow."""

    aggregation: Aggregation
    fact: TableName


def read_aggregation(
    _: Answer,
    sql: str,
    catalogs: frozenset[str],
    within: tuple[str | None, str | None],
    tables: Mapping[TableName, TableFacts],
) -> ReadAggregation | RefreshOutcome:
    """Returns the parts of the text, or why it is not refreshed. `within` is its catalog and schema."""
    try:
        return _read(sql, catalogs, within, tables)
    except NotRefreshable as refused:
        return refused.reason


def _read(
    sql: str,
    catalogs: frozenset[str],
    within: tuple[str | None, str | None],
    tables: Mapping[TableName, TableFacts],
) -> ReadAggregation:
    parsed = parse(sql)
    if parsed is None:
        raise NotRefreshable(RefreshOutcome.TOO_COMPLEX)
    known = {name.in_lower_case(): facts for name, facts in tables.items()}
    names = table_names(parsed, catalogs, *within)
    found = {end: known.get(table.name.in_lower_case()) for end, table in names.items()}
    growing = growing_tables(parsed)
    described = {end: facts for end, facts in found.items() if facts is not None}
    if len(described) != len(parsed.references):
        raise NotRefreshable(RefreshOutcome.TABLES)
    if not all(map(is_readable_again, described.values())):
        raise NotRefreshable(RefreshOutcome.NOT_PINNED)
    once = [
        facts
        for facts in (described[reference.end] for reference in growing)
        if sum(other.name == facts.name for other in described.values()) == 1
    ]
    if not once:
        raise NotRefreshable(RefreshOutcome.JOIN)
    fact = max(once, key=lambda facts: facts.total_bytes)
    qualifiers = frozenset(
        (reference.known_as if reference.alias is None else reference.alias).lower()
        for reference in parsed.references
    )
    columns = frozenset(column.name.lower() for facts in described.values() for column in facts.columns)
    return ReadAggregation(split(sql, qualifiers, columns), fact.name)
