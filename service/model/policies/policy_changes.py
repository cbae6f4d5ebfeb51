"""Changes of policies: what was added and removed, by whom and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.model.policies.policies import AnyPolicy, PolicySet


@dataclass(frozen=True, slots=True)
class PolicyDifference:
    """The policies that a change adds and removes. A policy that is edited is in both."""

    added: tuple[AnyPolicy, ...] = ()
    removed: tuple[AnyPolicy, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything changes."""
        return bool(self.added or self.removed)


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One change: the version that it made, when, by which principal, and its difference."""

    version: int
    changed_at: datetime
    changed_by: str
    difference: PolicyDifference


def difference(before: PolicySet, after: PolicySet) -> PolicyDifference:
    """Returns how to get from one set to the other, each part in the one order of policies.

    >>> difference(PolicySet(version=1), PolicySet(version=2))
    PolicyDifference(added=(), removed=())
    """
    old, new = set(before.policies), set(after.policies)
    return PolicyDifference(
        tuple(policy for policy in after.in_order().policies if policy not in old),
        tuple(policy for policy in before.in_order().policies if policy not in new),
    )
