"""Which SELECTs of a query are read in several places?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot.optimizer.scope import Scope


def shared_selects(root: Scope, references: Mapping[int, int]) -> frozenset[int]:
    """Returns the identities of the scopes with several readers, and of all scopes that those read.

    A scope that is merely visible to such a scope counts as read, so that no shared SELECT is taken for one
    with a single reader.
    """
    return all_below(scope for scope in root.traverse() if references.get(id(scope), 0) > 1)


def all_below(scopes: Iterable[Scope]) -> frozenset[int]:
    """Returns the identities of these scopes, and of all scopes that they read."""
    found: set[int] = set()
    waiting = list(scopes)
    while waiting:
        scope = waiting.pop()
        if id(scope) not in found:
            found.add(id(scope))
            waiting += _below(scope)
    return frozenset(found)


def _below(scope: Scope) -> Iterator[Scope]:
    yield from scope.subquery_scopes
    yield from scope.set_operation_scopes
    yield from (source for source in scope.sources.values() if isinstance(source, Scope))
