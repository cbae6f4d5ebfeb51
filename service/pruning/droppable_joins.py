"""Joins that a filter on the probe stands for: a dimension that gives its keys and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from service.model.joins import ColumnOf, JoinGraph, column_pair, own_columns
from service.model.sql import ParsedQuery, TextSpan
from service.pruning.inject import inject
from service.pruning.is_faithful import is_faithful
from service.pruning.local_relations import RelationPlacement, is_joined_by_the_select
from service.pruning.select_text import FromItem, SelectText


@dataclass(frozen=True, slots=True)
class DroppableJoin:
    """A join to `relation` that a filter stands for, if it is exact and no key is there twice.

    `probe_end` is where the probe's name ends in the text. Without `item`, and with TRUE for each of
    `conditions`, the text is that of the query without the join.
    """

    relation: RelationPlacement
    probe_end: int
    probe_column: str
    build_column: str
    item: TextSpan
    conditions: tuple[TextSpan, ...]

    @property
    def edits(self) -> Mapping[TextSpan, str]:
        """The parts of the text that change, with what stands there then."""
        outside = (each for each in self.conditions if not _is_within(each, self.item))
        return dict.fromkeys(outside, "TRUE") | {self.item: ""}


def droppable_joins(
    select: exp.Select, graph: JoinGraph, relations: Sequence[RelationPlacement], parsed: ParsedQuery
) -> Iterator[DroppableJoin]:
    """Every relation that one equality joins to a table, and nothing but its own conditions names besides.

    `select` is qualified, `relations` are those of its tables.
    """
    by_end = {each.reference_end: each for each in relations}
    text: SelectText | None = None
    for left, right in graph.equalities:
        for probe, build in ((left, right), (right, left)):
            relation = by_end.get(_end_of(graph, build))
            probe_end = _end_of(graph, probe)
            conditions = _conditions(select, graph, probe, build)
            if relation is None or not probe_end or not conditions:
                continue
            text = text or SelectText.of(parsed.sql)
            found = _in_text(text, parsed, relation, conditions, select)
            if found is not None:
                yield DroppableJoin(relation, probe_end, probe.column, build.column, found[0].span, found[1])


def _end_of(graph: JoinGraph, column: ColumnOf) -> int:
    """Where the name of the column's table ends in the text; 0 when its rows are not the table's own."""
    table = graph.relations.get(column.relation)
    if not isinstance(table, exp.Table) or column.relation in graph.null_supplied:
        return 0
    if not is_joined_by_the_select(table) or "end" not in table.this.meta:
        return 0
    return int(table.this.meta["end"]) + 1


def _conditions(select: exp.Select, graph: JoinGraph, probe: ColumnOf, build: ColumnOf) -> Sequence[exp.Expr]:
    """The equality and the build side's own conditions; none when it is named anywhere else."""
    pair = {(probe, build), (build, probe)}
    found = [
        each
        for each in graph.conjuncts
        if column_pair(each) in pair or {column.table for column in own_columns(each)} == {build.relation}
    ]
    inside = {id(column) for each in found for column in own_columns(each)}
    uses = [each for each in select.find_all(exp.Column) if each.table == build.relation]
    is_only_there = all(id(each) in inside for each in uses)
    is_plain = all(each.parent_select is select and _is_movable(each) for each in found)
    # What is not among the conditions that its rows were fetched by would be lost.
    is_fetched = all(column_pair(each) is not None or is_faithful(each) for each in found)
    return found if is_only_there and is_plain and is_fetched else ()


def _is_movable(condition: exp.Expr) -> bool:
    """Whether the rest of the text means the same without it: places of `?` would move."""
    is_numbered = any(each.name.startswith("positional_") for each in condition.find_all(exp.Placeholder))
    return not is_numbered and condition.find(exp.Query) is None


def _in_text(
    text: SelectText,
    parsed: ParsedQuery,
    relation: RelationPlacement,
    conditions: Sequence[exp.Expr],
    select: exp.Select,
) -> tuple[FromItem, tuple[TextSpan, ...]] | None:
    reference = next(each for each in parsed.references if each.end == relation.reference_end)
    item = text.from_item(reference.start, reference.end, reference.alias is not None)
    if item is None:
        return None
    spans = (*item.conjuncts, *text.conjuncts_after(item.span.end))
    dropped = {_start_of(column) for each in conditions for column in own_columns(each)}
    others = {_start_of(column) for column in select.find_all(exp.Column)} - dropped
    if None in dropped:
        return None
    covering = [each for each in spans if any(_covers(each, start) for start in dropped)]
    is_exact = all(any(_covers(each, start) for each in covering) for start in dropped)
    is_alone = not any(_covers(each, start) for each in covering for start in others)
    if not is_exact or not is_alone or not set(item.conjuncts) <= set(covering):
        return None
    join = DroppableJoin(relation, 0, "", "", item.span, tuple(covering))
    return (item, tuple(covering)) if _is_as_expected(parsed, join, dropped) else None


def _is_as_expected(parsed: ParsedQuery, join: DroppableJoin, dropped: set[int | None]) -> bool:
    """Whether the text without the join reads as the tree without it."""
    try:
        [found] = sqlglot.parse(inject(parsed, {}, join.edits), read="spark")
    except (SqlglotError, RecursionError, ValueError):
        return False
    expected = parsed.tree.copy()
    for table in expected.find_all(exp.Table):
        if table.this.meta.get("end") == join.relation.reference_end - 1:
            _cut(table)
            break
    is_dropped = partial(_is_dropped, dropped=dropped)
    return found == expected.transform(lambda node: exp.true() if is_dropped(node) else node)


def _cut(table: exp.Table) -> None:
    owner = table.parent
    select = owner.parent if owner is not None else None
    if isinstance(owner, exp.Join):
        owner.pop()
    elif isinstance(owner, exp.From) and isinstance(select, exp.Select) and select.args.get("joins"):
        owner.set("this", select.args["joins"][0].pop().this)


def _is_dropped(node: exp.Expr, dropped: set[int | None]) -> bool:
    """Whether a node of the WHERE is one of the conditions: all of its columns are theirs."""
    is_conjunct = isinstance(node.parent, exp.Where | exp.And) and not isinstance(node, exp.And)
    columns = list(node.find_all(exp.Column)) if is_conjunct else []
    return bool(columns) and all(_start_of(column) in dropped for column in columns)


def _start_of(column: exp.Column) -> int | None:
    start: int | None = column.this.meta.get("start")
    return start


def _covers(span: TextSpan, start: int | None) -> bool:
    return start is not None and span.start <= start < span.end


def _is_within(span: TextSpan, other: TextSpan) -> bool:
    return other.start <= span.start and span.end <= other.end
