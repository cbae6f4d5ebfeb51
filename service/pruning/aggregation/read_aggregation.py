"""Reads the text of a query that may be refreshed, for `BoundedCalls`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from service.model.query.refresh import Aggregation, NotRefreshable, RefreshOutcome
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableFacts, TableName
from service.ports.bounded_calls import Answer
from service.pruning.aggregation.clauses import clauses_of, text_of
from service.pruning.aggregation.growing_tables import growing_tables
from service.pruning.aggregation.inline_ctes import inline_ctes
from service.pruning.aggregation.split import split
from service.pruning.aggregation.surroundings import Surrounded, surrounded
from service.pruning.name_resolution.is_readable_again import is_readable_again
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.table_names import table_names


@dataclass(frozen=True, slots=True)
class ReadAggregation:
    """The aggregation of a query, and the table of it that is expected to grow.

    `inlined` is the whole text without common table expressions; None: it has none. `source` is the FROM
    clause of the aggregation, with its WHERE clause. `qualifiers` are the names of what that reads.
    `columns` are their columns, one with the same name after the other; None: it reads derived tables, and
    only the engine knows their columns. All names are in lower case.
    """

    text: Surrounded
    fact: TableName
    source: str
    qualifiers: frozenset[str]
    columns: tuple[str, ...] | None
    inlined: str | None = None


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


def split_aggregation(
    _: Answer, sql: str, qualifiers: frozenset[str], columns: tuple[str, ...]
) -> Aggregation | RefreshOutcome:
    """Returns the parts of an aggregation, or why it is not refreshed. See `ReadAggregation` about names."""
    shared = frozenset(name for name, count in Counter(columns).items() if count > 1)
    try:
        return split(sql, qualifiers, frozenset(columns), shared)
    except NotRefreshable as refused:
        return refused.reason


def _read(
    sql: str,
    catalogs: frozenset[str],
    within: tuple[str | None, str | None],
    tables: Mapping[TableName, TableFacts],
) -> ReadAggregation:
    whole = _parsed(sql)
    inlined = inline_ctes(whole) if whole.tree.find(exp.CTE) else None
    text = surrounded(sql if inlined is None else inlined)
    parsed = _parsed(text.aggregation)
    known = {name.in_lower_case(): facts for name, facts in tables.items()}
    names = table_names(parsed, catalogs, *within)
    found = {end: known.get(table.name.in_lower_case()) for end, table in names.items()}
    growing = growing_tables(parsed)
    described = {end: facts for end, facts in found.items() if facts is not None}
    if len(described) != len(parsed.references) or len(known) != len({f.name for f in described.values()}):
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
    clauses = clauses_of(text.aggregation)
    seen = _seen(parsed)
    columns = tuple(
        column.name.lower() for end, facts in described.items() if end in seen for column in facts.columns
    )
    return ReadAggregation(
        text,
        max(once, key=lambda facts: facts.total_bytes).name,
        text_of(clauses.sql, clauses.source),
        _qualifiers(parsed),
        None if any(parsed.tree.find_all(exp.Subquery)) else columns,
        inlined,
    )


def _parsed(sql: str) -> ParsedQuery:
    parsed = parse(sql)
    if parsed is None:
        raise NotRefreshable(RefreshOutcome.TOO_COMPLEX)
    return parsed


def _seen(parsed: ParsedQuery) -> frozenset[int]:
    """Returns where the names of those tables end whose columns the SELECT can name.

    To the SELECT, a semi or anti join has the columns of its left side alone.
    """
    tree = parsed.tree
    joins = (join for join in tree.args.get("joins") or () if join.kind.upper() not in ("SEMI", "ANTI"))
    sources = [tree.args["from_"].this, *(join.this for join in joins)]
    tables = [source for source in sources if isinstance(source, exp.Table)]
    return frozenset(table.parts[-1].meta.get("end", -1) + 1 for table in tables)


def _qualifiers(parsed: ParsedQuery) -> frozenset[str]:
    """Returns the names of the tables and derived tables that the SELECT itself reads."""
    tree = parsed.tree
    sources = [tree.args["from_"].this, *(join.this for join in tree.args.get("joins") or ())]
    return frozenset(source.alias_or_name.lower() for source in sources)
