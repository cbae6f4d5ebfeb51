"""The branches of unions: which SELECTs of a query are some, and which are those of one relation?"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from service.pruning.join_graph.shared_selects import all_below


def union_branches(root: Scope) -> frozenset[int]:
    """Returns the identities of these scopes.

    The engine takes the first branch of a union in which it finds a column in a scan. The partitioning of
    that scan decides whether it prunes the scans of all branches.
    """
    unions = (scope for scope in root.traverse() if isinstance(scope.expression, exp.SetOperation))
    return all_below(branch for union in unions for branch in union.set_operation_scopes)


def branches_of(relation: Scope) -> Iterator[Scope]:
    """Yields the SELECTs of a relation: its own, or those of all branches of its set operations."""
    if isinstance(relation.expression, exp.SetOperation):
        for branch in relation.set_operation_scopes:
            yield from branches_of(branch)
    elif isinstance(relation.expression, exp.Select):
        yield relation
