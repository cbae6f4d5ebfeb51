"""Join elimination: a filter on the probe replaces the join to a dimension that gives only its keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from service.model.filters.joins import ColumnOf, JoinGraph, column_pair, own_columns
from service.model.tables.sql import ParsedQuery, TextSpan
from service.pruning.conditions.is_safe_to_render import is_safe_to_render
from service.pruning.rewrites.local_relations import (
    RelationAssignment,
    is_joined_by_the_select,
    reads_columns,
)
from service.pruning.sql_text.inject import inject
from service.pruning.sql_text.select_text import SelectText


@dataclass(frozen=True)
class RedundantJoin:
    """A join to `relation` that a filter makes unnecessary, if the filter is exact and no key occurs twice.

    `probe_end` is where the probe's name ends in the text. `own` are the places of the columns that only this
    join's conditions name; `others` are those of all other columns of its SELECT.
    """

    relation: RelationAssignment
    probe_end: int
    probe_column: str
    build_column: str
    own: frozenset[int | None]
    others: frozenset[int | None]
    parsed: ParsedQuery

    @cached_property
    def edits(self) -> Mapping[TextSpan, str] | None:
        """The parts of the text that are replaced, with their replacements; None when they are not certain.

        Computed on first use, because that takes longer than to find filters.
        """
        return _edits(self)


def redundant_joins(
    select: exp.Select,
    graph: JoinGraph,
    relations: Sequence[RelationAssignment],
    filtered: Collection[tuple[int, str]],
    parsed: ParsedQuery,
) -> Iterator[RedundantJoin]:
    """Yields a join for each relation that an equality joins to a table, and that nothing else needs.

    Only the equality and the relation's own conditions may name its columns. `select` is qualified, and
    `relations` are the local relations of its tables. `filtered` has the places of the tables that filters
    were found for, and the columns in lower case. There is no such join if a function takes all columns, as
    in `hash(*)`.
    """
    pairs = [
        (probe, probe_end, build)
        for left, right in graph.equalities
        for probe, build in ((left, right), (right, left))
        if ((probe_end := _end_of(graph, probe)), probe.column) in filtered
    ]
    # To search a SELECT takes longer than to find that there is nothing to search for.
    if not pairs or _reads_all_columns(select):
        return
    columns = list(select.find_all(exp.Column))
    # The qualifier leaves names in HAVING and QUALIFY as they are.
    unresolved = {column.name.lower() for column in columns if not column.table}
    by_end = {
        relation.reference_end: relation
        for relation in relations
        if unresolved.isdisjoint(name.lower() for name in relation.query.rows_of.columns)
    }
    places = frozenset(map(_start_of, columns))
    for probe, probe_end, build in pairs:
        relation = by_end.get(_end_of(graph, build))
        if relation is None:
            continue
        uses = [column for column in columns if column.table == build.relation]
        conditions = _conditions(select, graph, probe, build, uses)
        own = frozenset(_start_of(column) for condition in conditions for column in own_columns(condition))
        if own and None not in own:
            yield RedundantJoin(relation, probe_end, probe.column, build.column, own, places - own, parsed)


def _reads_all_columns(select: exp.Select) -> bool:
    stars = (star for star in select.find_all(exp.Star) if star.find_ancestor(exp.Select) is select)
    return any(map(reads_columns, stars))


def _end_of(graph: JoinGraph, column: ColumnOf) -> int:
    """Returns where the name of the column's table ends in the text; 0 if its rows are not just a table's."""
    table = graph.relations.get(column.relation)
    if not isinstance(table, exp.Table) or column.relation in graph.null_supplied:
        return 0
    if column.relation in graph.null_rejected:
        # The text has an outer join, which is an inner one only because of conditions that would go.
        return 0
    if not is_joined_by_the_select(table) or "end" not in table.this.meta:
        return 0
    return int(table.this.meta["end"]) + 1


def _conditions(
    select: exp.Select, graph: JoinGraph, probe: ColumnOf, build: ColumnOf, uses: Sequence[exp.Column]
) -> Sequence[exp.Expr]:
    """Returns the equality and the build side's own conditions; none if the SELECT names it anywhere else.

    `uses` are all columns of the build side in the SELECT.
    """
    pair = {(probe, build), (build, probe)}
    equalities = (conjunct for conjunct in graph.conjuncts if column_pair(conjunct) in pair)
    found = [*equalities, *graph.conditions_on(build.relation)]
    inside = {id(column) for condition in found for column in own_columns(condition)}
    is_only_there = all(id(use) in inside for use in uses)
    is_plain = all(condition.parent_select is select and _is_movable(condition) for condition in found)
    # A condition that its rows were not fetched by would be lost.
    is_fetched = all(
        column_pair(condition) is not None or is_safe_to_render(condition) for condition in found
    )
    return found if is_only_there and is_plain and is_fetched else ()


def _is_movable(condition: exp.Expr) -> bool:
    """Whether the rest of the text means the same without it; to remove a `?` renumbers the later ones."""
    is_numbered = any(
        placeholder.name.startswith("positional_") for placeholder in condition.find_all(exp.Placeholder)
    )
    return not is_numbered and condition.find(exp.Query) is None


def _edits(join: RedundantJoin) -> Mapping[TextSpan, str] | None:
    parsed = join.parsed
    reference = next(
        reference for reference in parsed.references if reference.end == join.relation.reference_end
    )
    text = SelectText.of(parsed.sql)
    item = text.from_item(reference.span.start, reference.span.end, reference.alias is not None)
    if item is None:
        return None
    spans = (*item.conjuncts, *text.conjuncts_after(item.spans[-1].end))
    covering = [span for span in spans if any(_covers(span, start) for start in join.own)]
    is_exact = all(any(_covers(span, start) for span in covering) for start in join.own)
    is_alone = not any(_covers(span, start) for span in covering for start in join.others)
    if not is_exact or not is_alone or not set(item.conjuncts) <= set(covering):
        return None
    outside = (outer for outer in covering if not any(_is_within(outer, span) for span in item.spans))
    edits = dict.fromkeys(outside, "TRUE") | dict.fromkeys(item.spans, "")
    return edits if _is_as_expected(join, edits) else None


def _is_as_expected(join: RedundantJoin, edits: Mapping[TextSpan, str]) -> bool:
    """Whether the text without the join parses to the tree without the join."""
    try:
        [found] = sqlglot.parse(inject(join.parsed, {}, edits), read="spark")
    except (SqlglotError, RecursionError, ValueError):
        return False
    expected = join.parsed.tree.copy()
    for table in expected.find_all(exp.Table):
        if table.this.meta.get("end") == join.relation.reference_end - 1:
            _cut(table)
            break
    for condition in _eliminated(expected, join.own):
        condition.replace(exp.true())
    return found == expected


def _cut(table: exp.Table) -> None:
    owner = table.parent
    select = owner.parent if owner is not None else None
    if isinstance(owner, exp.Join):
        owner.pop()
    elif isinstance(owner, exp.From) and isinstance(select, exp.Select) and select.args.get("joins"):
        owner.set("this", select.args["joins"][0].pop().this)


def _eliminated(tree: exp.Expr, own: frozenset[int | None]) -> list[exp.Expr]:
    """Returns the conjuncts of the tree that are the join's conditions: all of their columns are in `own`."""
    owners = tree.find_all(exp.Where, exp.And)
    parts = (part for owner in owners for part in (owner.this, owner.args.get("expression")))
    return [part for part in parts if part is not None and _is_elimination(part, own)]


def _is_elimination(conjunct: exp.Expr, own: frozenset[int | None]) -> bool:
    columns = [] if isinstance(conjunct, exp.And) else list(conjunct.find_all(exp.Column))
    return bool(columns) and all(_start_of(column) in own for column in columns)


def _start_of(column: exp.Column) -> int | None:
    start: int | None = column.this.meta.get("start")
    return start


def _covers(span: TextSpan, start: int | None) -> bool:
    return start is not None and span.start <= start < span.end


def _is_within(span: TextSpan, other: TextSpan) -> bool:
    return other.start <= span.start and span.end <= other.end
