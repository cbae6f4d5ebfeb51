"""Flattens the joins of a SELECT that reads derived tables into joins of the tables below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import (
    ColumnOf,
    FlattenedGraph,
    InlineTable,
    JoinGraph,
    Relation,
    column_pair,
    relations_in,
)
from service.pruning.conditions.renamed import renamed
from service.pruning.join_graph.flattened_columns import has_rows_of_its_joins, projections, with_columns_of

# Common table expressions that each read the previous one twice double with each step.
MAX_RELATIONS = 24

FlattenedOf = Callable[[Scope], FlattenedGraph | None]
WrittenOf = Callable[[Scope], InlineTable | None]


def flatten_relations(
    graph: JoinGraph, flattened_of: FlattenedOf, written_of: WrittenOf = lambda _scope: None
) -> FlattenedGraph:
    """Replaces derived tables and common table expressions by their own tables and conditions.

    Clauses that reduce their rows (HAVING, LIMIT, DISTINCT) are left out, and so are conditions that cannot
    be expressed over the columns below. The flattened joins therefore have every row that the SELECT has, and
    may have more. A relation without joins of its own (a union, a list of values) stays one relation, as a
    query that is rendered again if that is safe.

    >>> from sqlglot import parse_one
    >>> from sqlglot.optimizer.scope import build_scope
    >>> from service.pruning.join_graph.join_graph import join_graph
    >>> below = "SELECT t.k AS j, max(t.v) AS m FROM t WHERE t.x = 1 GROUP BY t.k"
    >>> scope = build_scope(parse_one(f"SELECT 1 FROM ({below}) AS d WHERE d.j < 9", read="spark"))
    >>> def flattened_of(scope): return flatten_relations(join_graph(scope), flattened_of)
    >>> flattened = flattened_of(scope)
    >>> [conjunct.sql("spark") for conjunct in flattened.graph.conjuncts]
    ['`d.t`.x = 1', '`d.t`.k < 9']
    >>> flattened.column(ColumnOf("d", "j"))
    ColumnOf(relation='d.t', column='k')
    """
    if all(isinstance(relation, exp.Table) for relation in graph.relations.values()):
        return FlattenedGraph(graph, {}, {name: frozenset([name]) for name in graph.relations})
    relations: dict[str, Relation] = {}
    columns: dict[ColumnOf, exp.Expr] = {}
    members: dict[str, frozenset[str]] = {}
    conjuncts: list[exp.Expr] = []
    null_supplied = set(graph.null_supplied)
    with_more_filters: set[str] = set()
    for name, relation in graph.relations.items():
        inner = _inner(relation, flattened_of)
        names = (
            {} if inner is None else {relation: f"{name}.{relation}" for relation in inner.graph.relations}
        )
        is_clear = (graph.relations.keys() | relations.keys()).isdisjoint(names.values())
        if inner is None or not is_clear or len(relations) + len(names) > MAX_RELATIONS:
            relations[name] = _as_written(relation, written_of)
            members[name] = frozenset([name])
            continue
        relations |= {names[inner_name]: source for inner_name, source in inner.graph.relations.items()}
        members[name] = frozenset(names.values())
        if name in graph.null_supplied:
            null_supplied |= members[name]
        null_supplied |= {
            names[inner_name] for inner_name in inner.graph.null_supplied if inner_name in names
        }
        with_more_filters |= {
            names[inner_name] for inner_name in inner.with_more_filters if inner_name in names
        }
        own, others = _said_inside(inner.graph.conjuncts, names)
        conjuncts += own
        with_more_filters |= others
        assert isinstance(relation, Scope)
        columns |= {
            ColumnOf(name, column): renamed(projection, names, quoted=True)
            for column, projection in projections(relation.expression, inner).items()
            # A constant is left out. The engine does not treat the column as a literal, which may have
            # another type, and a literal would hide the NULL that an outer join puts there.
            if relations_in(projection)
        }
    for conjunct in graph.conjuncts:
        said = with_columns_of(conjunct, relations, columns)
        if said is not None:
            conjuncts.append(said)
        elif len(read := list(relations_in(conjunct))) == 1:
            with_more_filters |= members.get(read[0], frozenset())
    flattened = JoinGraph(
        relations=relations,
        null_supplied=frozenset(null_supplied),
        conjuncts=tuple(conjuncts),
        equalities=tuple(pair for conjunct in conjuncts if (pair := column_pair(conjunct)) is not None),
        other_equalities=(),
    )
    return FlattenedGraph(flattened, columns, members, frozenset(with_more_filters))


def _said_inside(
    conjuncts: Iterable[exp.Expr], names: Mapping[str, str]
) -> tuple[list[exp.Expr], frozenset[str]]:
    """Returns the conditions with the new names, and the relations in conditions with outer references."""
    own: list[exp.Expr] = []
    others: set[str] = set()
    for conjunct in conjuncts:
        read = relations_in(conjunct)
        if read <= names.keys():
            own.append(renamed(conjunct, names, quoted=True))
        else:
            others |= {names[name] for name in read & names.keys()}
    return own, frozenset(others)


def _inner(relation: Relation, flattened_of: FlattenedOf) -> FlattenedGraph | None:
    if not isinstance(relation, Scope) or not has_rows_of_its_joins(relation.expression):
        return None
    return flattened_of(relation)


def _as_written(relation: Relation, written_of: WrittenOf) -> Relation:
    written = written_of(relation) if isinstance(relation, Scope) else None
    return relation if written is None else written
