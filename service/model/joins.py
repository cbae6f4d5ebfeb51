"""How the relations of one SELECT are joined: what detection looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.model.filtering import JoinType, Reason

Relation = exp.Table | Scope
"""A table, or a SELECT of its own: a derived table, a common table expression, a set operation."""


@dataclass(frozen=True, slots=True, order=True)
class ColumnOf:
    """A column of a relation, by the relation's alias; both in lower case."""

    relation: str
    column: str


@dataclass(frozen=True, slots=True)
class JoinEquality:
    """An equality in the ON of a join which is not an inner one. `added` is of the relation named last."""

    join_type: JoinType
    before: ColumnOf
    added: ColumnOf


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """The FROM and WHERE of one SELECT.

    `conjuncts` are true of every row that leaves it (of a LEFT SEMI JOIN: with the right row that let it
    through), and `equalities` are those among them that say column = column. `null_supplied` relations may
    be replaced by NULLs in such a row.
    """

    relations: Mapping[str, Relation]
    null_supplied: frozenset[str]
    conjuncts: tuple[exp.Expr, ...]
    equalities: tuple[tuple[ColumnOf, ColumnOf], ...]
    other_equalities: tuple[JoinEquality, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair of columns of which one may narrow the other, or why it must not.

    The build side's relation stands in `build_graph`; `allowed` are those of that graph that its keys may be
    collected from, besides its own. `probe_key` and `build_key` are what is made of the columns before they
    are compared, if anything is.
    """

    join_type: JoinType
    probe: ColumnOf
    build: ColumnOf
    allowed: frozenset[str]
    build_graph: JoinGraph
    refusal: Reason | None = None
    probe_key: exp.Expr | None = None
    build_key: exp.Expr | None = None
