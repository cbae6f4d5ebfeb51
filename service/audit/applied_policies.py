"""Names the policies that restricted what a principal saw of tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS, Access, Allowed
from service.model.tables.tables import TableName


def applied_policies(access: Access, tables: Iterable[str]) -> Iterator[str]:
    """Yields each row filter and mask of these tables, which are given by their full names."""
    if access is FULL_ACCESS:
        return
    for name in tables:
        decision = access.decide(Action.SELECT, TableName.of(name))
        if isinstance(decision, Allowed):
            yield from decision.restriction.named(name)
