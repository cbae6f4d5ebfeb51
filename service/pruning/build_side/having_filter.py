"""The keys of a SELECT whose groups are chosen by HAVING, where nothing else filters them."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import build_scope

from service.model.filters.joins import ColumnOf, InlineTable, JoinGraph
from service.model.tables.tables import TableFacts
from service.pruning.build_side.build_query import FactsOf
from service.pruning.conditions.is_safe_to_render import is_safe_to_render
from service.pruning.conditions.is_uncorrelated import is_uncorrelated
from service.pruning.join_graph.known_tables import column_of

# Sums of these types do not depend on the order of the rows.
_EXACT = ("int", "long", "decimal")
_ALIAS = "chosen"


def having_filter(
    select: exp.Expr, column: ColumnOf | str, facts_of: FactsOf
) -> tuple[JoinGraph, ColumnOf] | None:
    """Returns the SELECT as the one relation of a build side, and its output column that has the keys.

    `column` is that column's name outside, or the column that it is inside. None if the SELECT has no HAVING,
    or may have another result when it is queried by itself: it reads more than tables with facts, or what it
    chooses by is not the same each time.
    """
    if not isinstance(select, exp.Select) or select.args.get("having") is None:
        return None
    tables = _tables(select, facts_of)
    name = column if isinstance(column, str) else _name_outside(select, column)
    if tables is None or name is None or _has_two_meanings(select, name, tables):
        return None
    scope = build_scope(select)
    if scope is None or not is_uncorrelated(select, {id(select): scope}, lambda table: bool(facts_of(table))):
        return None
    if not is_safe_to_render(_without_exact_sums(select, tables)):
        return None
    return JoinGraph({_ALIAS: InlineTable(select, True)}, frozenset(), (), (), ()), ColumnOf(_ALIAS, name)


def _tables(select: exp.Select, facts_of: FactsOf) -> Mapping[str, TableFacts] | None:
    found: dict[str, TableFacts] = {}
    for clause in (select.args.get("from_"), *(select.args.get("joins") or ())):
        facts = facts_of(clause.this) if clause is not None and isinstance(clause.this, exp.Table) else None
        if facts is None:
            return None
        found[clause.alias_or_name] = facts
    return found


def _name_outside(select: exp.Select, column: ColumnOf) -> str | None:
    for name, projection in zip(select.named_selects, select.selects, strict=True):
        bare = projection.unalias().unnest()
        if isinstance(bare, exp.Column) and ColumnOf(bare.table, bare.name) == column:
            return name
    return None


def _has_two_meanings(select: exp.Select, key: str, tables: Mapping[str, TableFacts]) -> bool:
    """Whether the key's name, or a name in HAVING, may mean more than one column."""
    columns = {column.name.lower() for facts in tables.values() for column in facts.columns}
    names = select.named_selects
    computed = {
        name
        for name, projection in zip(names, select.selects, strict=True)
        if not (isinstance(projection.unalias(), exp.Column) and projection.unalias().name == name)
    }
    return names.count(key) != 1 or not columns.isdisjoint(computed)


def _without_exact_sums(select: exp.Select, tables: Mapping[str, TableFacts]) -> exp.Select:
    """Returns a copy with each exact sum replaced by MAX, which is safe to render for any type."""
    copy = select.copy()
    for total in list(copy.find_all(exp.Sum)):
        is_own = total.find_ancestor(exp.Select) is copy
        if is_own and isinstance(total.this, exp.Column) and _is_exact(total.this, tables):
            total.replace(exp.Max(this=total.this.copy()))
    return copy


def _is_exact(column: exp.Column, tables: Mapping[str, TableFacts]) -> bool:
    # Columns in HAVING need not name their table.
    read = [tables[column.table]] if column.table in tables else tables.values()
    known = [found.type_name for facts in read if (found := column_of(facts, column.name)) is not None]
    return len(known) == 1 and known[0].startswith(_EXACT)
