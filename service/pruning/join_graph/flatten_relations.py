"""Flattens the joins of a SELECT that reads derived tables into joins of the tables below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

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
    flattening = _Flattening(graph)
    for name, relation in graph.relations.items():
        inner = _inner(relation, flattened_of)
        if inner is None or not flattening.has_place_for(name, inner):
            flattening.keep(name, _as_written(relation, written_of))
        else:
            assert isinstance(relation, Scope)
            flattening.replace(name, inner, projections(relation.expression, inner))
    flattening.add_conditions()
    return flattening.flattened()


@dataclass(slots=True)
class _Flattening:
    """The flattened graph of `graph`, as far as it is made."""

    graph: JoinGraph
    relations: dict[str, Relation] = field(default_factory=dict)
    columns: dict[ColumnOf, exp.Expr] = field(default_factory=dict)
    members: dict[str, frozenset[str]] = field(default_factory=dict)
    conjuncts: list[exp.Expr] = field(default_factory=list)
    null_supplied: set[str] = field(default_factory=set)
    with_more_filters: set[str] = field(default_factory=set)

    def has_place_for(self, name: str, inner: FlattenedGraph) -> bool:
        """Whether the relations below `name` have names of their own here, and are not too many."""
        names = _names_below(name, inner).values()
        is_clear = (self.graph.relations.keys() | self.relations.keys()).isdisjoint(names)
        return is_clear and len(self.relations) + len(names) <= MAX_RELATIONS

    def keep(self, name: str, relation: Relation) -> None:
        """Adds a relation that stays one."""
        self.relations[name] = relation
        self.members[name] = frozenset([name])

    def replace(self, name: str, inner: FlattenedGraph, projected: Mapping[str, exp.Expr]) -> None:
        """Adds the relations below `name`, with their conditions; `projected` are its columns over theirs."""
        names = _names_below(name, inner)
        self.relations |= {names[below]: source for below, source in inner.graph.relations.items()}
        self.members[name] = frozenset(names.values())
        if name in self.graph.null_supplied:
            self.null_supplied |= self.members[name]
        self.null_supplied |= {names[below] for below in inner.graph.null_supplied if below in names}
        self.with_more_filters |= {names[below] for below in inner.with_more_filters if below in names}
        own, others = _said_inside(inner.graph.conjuncts, names)
        self.conjuncts += own
        self.with_more_filters |= others
        self.columns |= {
            ColumnOf(name, column): renamed(projection, names, quoted=True)
            for column, projection in projected.items()
            # A constant is left out. The engine does not treat the column as a literal, which may have
            # another type, and a literal would hide the NULL that an outer join puts there.
            if relations_in(projection)
        }

    def add_conditions(self) -> None:
        """Adds the graph's own conditions, once it is known what became of all of its relations."""
        for conjunct in self.graph.conjuncts:
            said = with_columns_of(conjunct, self.relations, self.columns)
            if said is not None:
                self.conjuncts.append(said)
            elif len(read := list(relations_in(conjunct))) == 1:
                self.with_more_filters |= self.members.get(read[0], frozenset())

    def flattened(self) -> FlattenedGraph:
        """Returns the graph of what there is now."""
        pairs = (column_pair(conjunct) for conjunct in self.conjuncts)
        flattened = JoinGraph(
            relations=self.relations,
            null_supplied=self.graph.null_supplied | self.null_supplied,
            conjuncts=tuple(self.conjuncts),
            equalities=tuple(pair for pair in pairs if pair is not None),
            other_equalities=(),
        )
        return FlattenedGraph(flattened, self.columns, self.members, frozenset(self.with_more_filters))


def _names_below(name: str, inner: FlattenedGraph) -> Mapping[str, str]:
    return {relation: f"{name}.{relation}" for relation in inner.graph.relations}


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
