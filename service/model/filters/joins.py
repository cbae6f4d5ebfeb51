"""How the relations of one SELECT are joined: what detection looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.filtering import JoinType, Reason


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """Rows that a query of its own yields: those of a list of values, or of a union.

    It has every row that the relation has whose place it takes, and may have more. `is_filtered`: it leaves
    out rows of the tables that it reads, or reads none.
    """

    query: exp.Query
    is_filtered: bool

    @property
    def columns(self) -> frozenset[str]:
        """The names of what it yields."""
        return frozenset(self.query.named_selects)


Relation = exp.Table | Scope | WrittenRows
"""A table, or a SELECT of its own: a derived table, a common table expression, a set operation.

Before relations are opened, none is written.
"""


@dataclass(frozen=True, slots=True, order=True)
class ColumnOf:
    """A column of a relation, by the relation's alias; both in lower case."""

    relation: str
    column: str


@dataclass(frozen=True, slots=True)
class KeySide:
    """A column, and the expression over it that is compared; None when that is the column itself."""

    column: ColumnOf
    expression: exp.Expr | None


@dataclass(frozen=True, slots=True)
class JoinEquality:
    """An equality in the ON of a join which is not an inner one. `added` is of the relation named last.

    `is_null_safe`: NULL equals NULL (`<=>`); `is_of_filled`: so it does, and the side before may be NULLs
    that stand for a row.
    """

    join_type: JoinType
    before: KeySide
    added: KeySide
    is_null_safe: bool = False
    is_of_filled: bool = False


@dataclass(frozen=True)
class JoinGraph:
    """The FROM and WHERE of one SELECT.

    `conjuncts` are true of every row that leaves it (of a LEFT SEMI JOIN: with the right row that let it
    through), and `equalities` are those among them that say column = column. `null_supplied` relations may
    be replaced by NULLs in such a row; `null_rejected` ones are by a join of the text, whose rows with these
    NULLs the conjuncts drop. `operands` are, by themselves, the joins of each side that an outer
    join of the SELECT may replace by NULLs: what is no row of theirs is none of the SELECT.
    """

    relations: Mapping[str, Relation]
    null_supplied: frozenset[str]
    conjuncts: tuple[exp.Expr, ...]
    equalities: tuple[tuple[ColumnOf, ColumnOf], ...]
    other_equalities: tuple[JoinEquality, ...]
    null_rejected: frozenset[str] = frozenset()
    operands: tuple[JoinGraph, ...] = ()

    @cached_property
    def read_by_conjuncts(self) -> tuple[frozenset[str], ...]:
        """For each conjunct, the relations whose columns it reads, subqueries aside."""
        return tuple(map(relations_in, self.conjuncts))

    @cached_property
    def filtered(self) -> frozenset[str]:
        """The relations that one conjunct alone filters, and those that have only some rows anyway."""
        pairs = zip(self.conjuncts, self.read_by_conjuncts, strict=True)
        alone = (read for each, read in pairs if len(read) == 1 and is_filter(each))
        written = (
            name
            for name, each in self.relations.items()
            if isinstance(each, WrittenRows) and each.is_filtered
        )
        return frozenset().union(*alone, written)

    def conditions_on(self, relation: str) -> Sequence[exp.Expr]:
        """The conjuncts on this relation alone, without those that have subqueries."""
        return self._conditions.get(relation, ())

    def conditions_within(self, relations: Set[str]) -> Sequence[exp.Expr]:
        """The conjuncts on these relations and no others."""
        pairs = zip(self.conjuncts, self.read_by_conjuncts, strict=True)
        return [each for each, read in pairs if read and read <= relations]

    @cached_property
    def _conditions(self) -> Mapping[str, Sequence[exp.Expr]]:
        found: dict[str, list[exp.Expr]] = {}
        for each, read in zip(self.conjuncts, self.read_by_conjuncts, strict=True):
            if len(read) == 1 and each.find(exp.Query) is None:
                [relation] = read
                found.setdefault(relation, []).append(each)
        return found


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair of columns of which one may narrow the other, or why it must not.

    The build side's relation stands in `build_graph`; `allowed` are those of that graph that its keys may be
    collected from, besides its own. `probe_key` and `build_key` are what is made of the columns before they
    are compared, if anything is. `is_null_safe`: NULL equals NULL (`<=>`). Of a build column that a SELECT
    computes, `computed_from` is the one below which `build_key` is said over, in the opened `build_graph`.
    """

    join_type: JoinType
    probe: ColumnOf
    build: ColumnOf
    allowed: frozenset[str]
    build_graph: JoinGraph
    refusal: Reason | None = None
    probe_key: exp.Expr | None = None
    build_key: exp.Expr | None = None
    is_null_safe: bool = False
    computed_from: ColumnOf | None = None

    @classmethod
    def of_sides(
        cls,
        join_type: JoinType,
        probe: KeySide,
        build: KeySide,
        allowed: Iterable[str],
        build_graph: JoinGraph,
        refusal: Reason | None = None,
        *,
        is_null_safe: bool = False,
    ) -> Candidate:
        """That of the two sides of one comparison."""
        return cls(
            join_type,
            probe.column,
            build.column,
            frozenset(allowed),
            build_graph,
            refusal,
            probe.expression,
            build.expression,
            is_null_safe,
        )


@dataclass(frozen=True, slots=True)
class OpenedGraph:
    """The joins of a SELECT with those of the SELECTs that it reads in their place.

    Every row that leaves the SELECT has one in `graph` with the same values; there may be more of those.
    `columns` tells what stands for a column of an opened relation; `members`, for each relation that was
    named before, the relations that stand for it now. `with_more_filters` are those of its relations that the
    query filters by more than the conjuncts say.
    """

    graph: JoinGraph
    columns: Mapping[ColumnOf, exp.Expr]
    members: Mapping[str, frozenset[str]]
    with_more_filters: frozenset[str] = frozenset()

    def column(self, before: ColumnOf) -> ColumnOf | None:
        """The column that a column was before its relation was opened; None when it is computed."""
        relation = self.graph.relations.get(before.relation)
        if relation is not None:
            return before if has_column(relation, before.column) else None
        now = self.columns.get(before)
        return ColumnOf(now.table, now.name) if isinstance(now, exp.Column) else None

    def computed(self, before: ColumnOf) -> tuple[ColumnOf, exp.Expr] | None:
        """The one column that a computed column is made of, and the expression over it."""
        now = self.columns.get(before)
        read = set() if now is None else {ColumnOf(each.table, each.name) for each in own_columns(now)}
        if now is None or isinstance(now, exp.Column) or len(read) != 1:
            return None
        [column] = read
        return column, now


def has_column(relation: Relation, column: str) -> bool:
    """Whether a relation yields a column of this name, which the query says it has: not all are written."""
    return not isinstance(relation, WrittenRows) or column in relation.columns


def own_columns(condition: exp.Expr) -> Iterator[exp.Column]:
    """The columns in a condition, without those of its subqueries.

    >>> from sqlglot import parse_one
    >>> [each.sql() for each in own_columns(parse_one("a.x = 1 OR b.y IN (SELECT c.z FROM c)"))]
    ['a.x', 'b.y']
    """
    for each in condition.walk(prune=lambda node: isinstance(node, exp.Query)):
        if isinstance(each, exp.Column):
            yield each


def relations_in(condition: exp.Expr) -> frozenset[str]:
    """The relations of the SELECT whose columns the condition reads, subqueries aside."""
    return frozenset(each.table for each in own_columns(condition))


def alone_in(conditions: Iterable[exp.Expr]) -> frozenset[str]:
    """The relations that one of these conditions alone is on."""
    return frozenset().union(*(read for each in conditions if len(read := relations_in(each)) == 1))


def is_filter(condition: exp.Expr) -> bool:
    """Whether it removes rows: that a key is there is no filter."""
    return not (isinstance(condition, exp.Not) and isinstance(condition.this.unnest(), exp.Is))


def column_pair(condition: exp.Expr) -> tuple[ColumnOf, ColumnOf] | None:
    """The two columns of different relations that the condition says to be equal.

    >>> from sqlglot import parse_one
    >>> column_pair(parse_one("(a.x) = b.y"))
    (ColumnOf(relation='a', column='x'), ColumnOf(relation='b', column='y'))
    """
    if not isinstance(condition, exp.EQ):
        return None
    left, right = condition.left.unnest(), condition.right.unnest()
    if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
        return None
    if not left.table or not right.table or left.table == right.table:
        return None
    return ColumnOf(left.table, left.name), ColumnOf(right.table, right.name)
