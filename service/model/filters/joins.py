"""The joins between the relations of one SELECT, as detection sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filters.dynamic_filter import JoinType
from service.model.filters.filter_record import Reason

HAS_ROW_FILTER = "has_row_filter"
"""In a table reference's meta: a policy hides rows of the table."""


@dataclass(frozen=True, slots=True)
class InlineTable:
    """Rows that a query of its own yields: those of a list of values, or of a union.

    The query has every row of the relation that it replaces, and may have more. `is_filtered`: it omits some
    rows of the tables that it reads, or reads no table.
    """

    query: exp.Query
    is_filtered: bool

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns that the query yields."""
        return frozenset(self.query.named_selects)


Relation = exp.Table | Scope | InlineTable
"""A table, or a SELECT of its own: a derived table, a common table expression, a set operation.

Before subqueries are flattened, no relation is a `InlineTable`.
"""


@dataclass(frozen=True, slots=True, order=True)
class ColumnOf:
    """A column of a relation, by the relation's alias; both are in lower case."""

    relation: str
    column: str


@dataclass(frozen=True, slots=True)
class KeySide:
    """A column, and the expression over it that is compared; None when the column itself is compared."""

    column: ColumnOf
    expression: exp.Expr | None


@dataclass(frozen=True, slots=True)
class JoinEquality:
    """An equality in the ON of a join that is not an inner join; `added` belongs to the relation named last.

    `is_null_safe`: NULL equals NULL (`<=>`). `is_of_filled`: the equality is null-safe, and one side may hold
    NULLs that an outer join put in place of a row.
    """

    join_type: JoinType
    before: KeySide
    added: KeySide
    is_null_safe: bool = False
    is_of_filled: bool = False


@dataclass(frozen=True)
class JoinGraph:
    """The FROM and WHERE of one SELECT.

    `conjuncts` are true of every row that leaves the SELECT (for a LEFT SEMI JOIN: together with the right
    row that matched), and `equalities` are those among them of the form column = column. In such a row, an
    outer join may have replaced `null_supplied` relations by NULLs. A join of the text may also replace
    `null_rejected` relations by NULLs, but the conjuncts remove the rows with these NULLs.

    `operands` are graphs of their own, one for each side that an outer join of the SELECT may replace by
    NULLs. A row that is not in such a graph cannot occur in the SELECT.
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
        """For each conjunct, the relations whose columns it reads, except in subqueries."""
        return tuple(map(relations_in, self.conjuncts))

    @cached_property
    def filtered(self) -> frozenset[str]:
        """The relations that a conjunct filters by itself, and those that hold only some rows anyway."""
        pairs = zip(self.conjuncts, self.read_by_conjuncts, strict=True)
        alone = (read for conjunct, read in pairs if len(read) == 1 and is_filter(conjunct))
        written = (
            name
            for name, relation in self.relations.items()
            if (isinstance(relation, InlineTable) and relation.is_filtered)
            or (isinstance(relation, exp.Table) and HAS_ROW_FILTER in relation.meta)
        )
        return frozenset().union(*alone, written)

    def conditions_on(self, relation: str) -> Sequence[exp.Expr]:
        """Returns the conjuncts on this relation alone, without those that have subqueries."""
        return self._conditions.get(relation, ())

    def conditions_within(self, relations: Set[str]) -> Sequence[exp.Expr]:
        """Returns the conjuncts on these relations and no others."""
        pairs = zip(self.conjuncts, self.read_by_conjuncts, strict=True)
        return [conjunct for conjunct, read in pairs if read and read <= relations]

    @cached_property
    def _conditions(self) -> Mapping[str, Sequence[exp.Expr]]:
        found: dict[str, list[exp.Expr]] = {}
        for conjunct, read in zip(self.conjuncts, self.read_by_conjuncts, strict=True):
            if len(read) == 1 and conjunct.find(exp.Query) is None:
                [relation] = read
                found.setdefault(relation, []).append(conjunct)
        return found


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair of columns: one may filter the other, or `rejection` says why it must not.

    The build side's relation is in `build_graph`. `allowed` are the other relations of that graph that its
    keys may be collected from. `probe_key` and `build_key` are the expressions over the columns that are
    compared, if there are any. `is_null_safe`: NULL equals NULL (`<=>`).

    If a SELECT computes the build column, `computed_from` is the column that `build_key` is an expression
    over, in the flattened `build_graph`.
    """

    join_type: JoinType
    probe: ColumnOf
    build: ColumnOf
    allowed: frozenset[str]
    build_graph: JoinGraph
    rejection: Reason | None = None
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
        rejection: Reason | None = None,
        *,
        is_null_safe: bool = False,
    ) -> Candidate:
        """Returns the candidate of the two sides of one comparison."""
        return cls(
            join_type,
            probe.column,
            build.column,
            frozenset(allowed),
            build_graph,
            rejection,
            probe.expression,
            build.expression,
            is_null_safe,
        )


@dataclass(frozen=True, slots=True)
class FlattenedGraph:
    """The joins of a SELECT, with the subqueries that it reads replaced by their own joins.

    Every row that leaves the SELECT has a row in `graph` with the same values; `graph` may have more rows.
    `columns` maps each column of a flattened relation to its expression in `graph`. `members` maps each
    original relation to the relations that replace it. `with_more_filters` are the relations that the query
    filters by more than the conjuncts.
    """

    graph: JoinGraph
    columns: Mapping[ColumnOf, exp.Expr]
    members: Mapping[str, frozenset[str]]
    with_more_filters: frozenset[str] = frozenset()

    def column(self, before: ColumnOf) -> ColumnOf | None:
        """Returns the flattened graph's column for a column of the original one; None when it is computed."""
        relation = self.graph.relations.get(before.relation)
        if relation is not None:
            return before if has_column(relation, before.column) else None
        now = self.columns.get(before)
        return ColumnOf(now.table, now.name) if isinstance(now, exp.Column) else None

    def computed(self, before: ColumnOf) -> tuple[ColumnOf, exp.Expr] | None:
        """Returns the one column that a computed column is made of, and the expression over it."""
        now = self.columns.get(before)
        read = set() if now is None else {ColumnOf(column.table, column.name) for column in own_columns(now)}
        if now is None or isinstance(now, exp.Column) or len(read) != 1:
            return None
        [column] = read
        return column, now


def has_column(relation: Relation, column: str) -> bool:
    """Returns whether a relation yields this column of the query; written rows may lack some."""
    return not isinstance(relation, InlineTable) or column in relation.columns


def own_columns(condition: exp.Expr) -> Iterator[exp.Column]:
    """Yields the columns in a condition, without those of its subqueries.

    >>> from sqlglot import parse_one
    >>> [column.sql() for column in own_columns(parse_one("a.x = 1 OR b.y IN (SELECT c.z FROM c)"))]
    ['a.x', 'b.y']
    """
    for node in condition.walk(prune=lambda node: isinstance(node, exp.Query)):
        if isinstance(node, exp.Column):
            yield node


def relations_in(condition: exp.Expr) -> frozenset[str]:
    """Returns the relations of the SELECT whose columns the condition reads, except in subqueries."""
    return frozenset(column.table for column in own_columns(condition))


def alone_in(conditions: Iterable[exp.Expr]) -> frozenset[str]:
    """Returns each relation that is the only one that some of the conditions reads."""
    return frozenset().union(*(read for condition in conditions if len(read := relations_in(condition)) == 1))


def is_filter(condition: exp.Expr) -> bool:
    """Returns whether the condition counts as a filter; a check that a key is not NULL does not."""
    return not (isinstance(condition, exp.Not) and isinstance(condition.this.unnest(), exp.Is))


def column_pair(condition: exp.Expr) -> tuple[ColumnOf, ColumnOf] | None:
    """Returns the two columns of different relations that the condition equates.

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
