"""One SELECT with its joins, as the rules that look for candidates read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot.optimizer.scope import Scope

from service.model.filters.joins import ColumnOf, JoinGraph


@dataclass(frozen=True, slots=True)
class JoinedSelect:
    """The SELECT and one graph of its joins.

    `classes` has for each column those that equal it in every row. `graph_of` returns the graph of another
    SELECT of the query; None if it is not supported.
    """

    scope: Scope
    graph: JoinGraph
    classes: Mapping[ColumnOf, frozenset[ColumnOf]]
    graph_of: Callable[[Scope], JoinGraph | None]
