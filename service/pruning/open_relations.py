"""From the joins of a SELECT that reads derived tables to joins of the tables below them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.joins import ColumnOf, JoinGraph, OpenedGraph, Relation, column_pair, own_columns

# Common table expressions that read one another twice double with each step.
MAX_RELATIONS = 24
MAX_EXPRESSION_NODES = 48

# Of these a SELECT's rows become fewer, never others. GROUP BY is looked at by itself.
_CLAUSES = {
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "distinct",
    "qualify",
    "order",
    "sort",
    "cluster",
    "distribute",
    "limit",
    "offset",
    "sample",
    "with_",
    "hint",
}

OpenedOf = Callable[[Scope], OpenedGraph | None]


def open_relations(graph: JoinGraph, opened_of: OpenedOf) -> OpenedGraph:
    """Puts the tables and conditions of derived tables and common table expressions in their place.

    What makes their rows fewer (HAVING, LIMIT, DISTINCT) and what a computed column cannot say is left out:
    the opened joins have every row that the SELECT has, and may have more.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> from service.pruning.join_graph import join_graph
    >>> below = "SELECT t.k AS j, max(t.v) AS m FROM t WHERE t.x = 1 GROUP BY t.k"
    >>> scope = build_scope(parse_one(f"SELECT 1 FROM ({below}) AS d WHERE d.j < 9", read="spark"))
    >>> def opened_of(each): return open_relations(join_graph(each), opened_of)
    >>> opened = opened_of(scope)
    >>> [each.sql("spark") for each in opened.graph.conjuncts], opened.column(ColumnOf("d", "j"))
    (['`d.t`.x = 1', '`d.t`.k < 9'], ColumnOf(relation='d.t', column='k'))
    """
    if all(isinstance(each, exp.Table) for each in graph.relations.values()):
        return OpenedGraph(graph, {}, {name: frozenset([name]) for name in graph.relations})
    relations: dict[str, Relation] = {}
    columns: dict[ColumnOf, exp.Expr] = {}
    members: dict[str, frozenset[str]] = {}
    conjuncts: list[exp.Expr] = []
    for name, relation in graph.relations.items():
        inner = _inner(relation, opened_of)
        names = {} if inner is None else {each: f"{name}.{each}" for each in inner.graph.relations}
        is_clear = (graph.relations.keys() | relations.keys()).isdisjoint(names.values())
        if inner is None or not is_clear or len(relations) + len(names) > MAX_RELATIONS:
            relations[name] = relation
            members[name] = frozenset([name])
            continue
        relations |= {names[each]: source for each, source in inner.graph.relations.items()}
        members[name] = frozenset(names.values())
        conjuncts += [_renamed(each, names) for each in inner.graph.conjuncts]
        assert isinstance(relation, Scope)
        columns |= {
            ColumnOf(name, column): _renamed(each, names)
            for column, each in _projections(relation.expression, inner).items()
        }
    for each in graph.conjuncts:
        said = _with_columns_of(each, relations, columns)
        conjuncts += [] if said is None else [said]
    opened = JoinGraph(
        relations=relations,
        null_supplied=graph.null_supplied,
        conjuncts=tuple(conjuncts),
        equalities=tuple(pair for each in conjuncts if (pair := column_pair(each)) is not None),
        other_equalities=(),
    )
    return OpenedGraph(opened, columns, members)


def _inner(relation: Relation, opened_of: OpenedOf) -> OpenedGraph | None:
    if isinstance(relation, exp.Table) or not _has_rows_of_its_joins(relation.expression):
        return None
    return opened_of(relation)


def _has_rows_of_its_joins(select: exp.Expr) -> bool:
    """Whether each of its rows has the values of a row of its joins, in what is not an aggregate."""
    if not isinstance(select, exp.Select) or any(
        value for key, value in select.args.items() if key not in _CLAUSES
    ):
        return False
    outer = select.parent
    while isinstance(outer, exp.Subquery):
        if outer.args.get("pivots"):
            return False
        outer = outer.parent
    group = select.args.get("group")
    if group is not None:
        # ROLLUP and its like put NULL in the place of keys.
        is_plain = not any(value for key, value in group.args.items() if key != "expressions")
        return is_plain and group.find(exp.Rollup, exp.Cube, exp.GroupingSets) is None
    # An aggregate over all rows has a row even where there is none.
    return select.args.get("having") is None and not any(
        each.find_ancestor(exp.Select) is select
        for each in select.find_all(exp.AggFunc)
        if each.find_ancestor(exp.Window) is None
    )


def _projections(select: exp.Expr, inner: OpenedGraph) -> Mapping[str, exp.Expr]:
    """The columns that leave the SELECT, in terms of its opened relations."""
    if not isinstance(select, exp.Select) or any(isinstance(each, exp.Star) for each in select.selects):
        return {}
    names = select.named_selects
    found: dict[str, exp.Expr] = {}
    for name, each in zip(names, select.selects, strict=True):
        said = _with_columns_of(each.unalias().unnest(), inner.graph.relations, inner.columns)
        if said is not None and names.count(name) == 1 and said.find(exp.Query) is None:
            found[name] = said
    return found


def _with_columns_of(
    expression: exp.Expr, relations: Mapping[str, Relation], columns: Mapping[ColumnOf, exp.Expr]
) -> exp.Expr | None:
    """A copy in which columns of opened relations are what they stand for; None where that is not known."""
    copy = expression.copy()
    for each in list(own_columns(copy)):
        if each.table in relations:
            continue
        stands_for = columns.get(ColumnOf(each.table, each.name))
        if stands_for is None:
            return None
        new = stands_for.copy() if isinstance(stands_for, exp.Column) else exp.paren(stands_for)
        if each is copy:
            return new
        each.replace(new)
    return (
        copy if sum(1 for _ in copy.walk()) <= MAX_EXPRESSION_NODES + len(list(expression.walk())) else None
    )


def _renamed(expression: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    copy = expression.copy()
    for each in own_columns(copy):
        each.set("table", exp.to_identifier(names[each.table], quoted=True))
    return copy
