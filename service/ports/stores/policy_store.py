"""Ports of authorization: who decides, the store of policies, and the check of their SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from service.model.authentication.principals import Principal
from service.model.policies.checks import CheckedPolicy, PolicyProblem
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.policies.policies import PolicySet
from service.model.policies.policy_changes import PolicyChange
from service.model.tables.tables import TableName


class Policies(Protocol):
    """Decides who may do what. An external engine of policies can stand behind it."""

    def access_of(self, principal: Principal) -> Access:
        """Returns what the principal may do, by the policies of this moment. Returns at once.

        Raises:
            PoliciesDown: they are not known now.
        """


class NoPolicies:
    """Implements `Policies` for a gateway where each principal may do everything."""

    def access_of(self, principal: Principal) -> Access:  # noqa: ARG002
        """See `Policies`."""
        return FULL_ACCESS


class PolicyStore(Protocol):
    """Keeps policies and their history for all replicas.

    Each method raises MetricsStoreDown if the store does not answer, and PoliciesDown if this version cannot
    read what is stored.
    """

    def version(self) -> int:
        """Returns the current version. 0: there was no change. Replicas ask often, so it is cheap."""
        ...

    def load(self) -> PolicySet:
        """Returns all policies at their current version, in their one order."""
        ...

    def replace(self, policies: PolicySet, *, expected_version: int, by: str) -> PolicySet:
        """Replaces all policies at once, and returns them with their new version.

        Policies that are the same as before make no new version.

        Raises:
            PoliciesChanged: the current version is not the expected one.
            MetricsStoreDown: the store does not answer; it may have replaced them.
        """
        ...

    def changes(self, limit: int) -> Sequence[PolicyChange]:
        """Returns the latest changes, the newest first."""
        ...


class PolicyChecker(Protocol):
    """Checks policies against tables and views, as the engine reads them."""

    def check(self, table: TableName, policies: Sequence[CheckedPolicy]) -> Sequence[PolicyProblem]:
        """Returns what is wrong with row filters and column masks on this table, nothing if all is right.

        Raises:
            TableNotFound: there is no such table.
            PartDown: the engine or the catalog does not answer.
        """
        ...

    def definition(self, view: TableName) -> str | None:
        """Returns the digest of a view and of all views below it. None: there is no such view.

        Views that give the same rows of the same tables under the same name have the same digest.

        Raises:
            CallerError: the view cannot be read.
            PartDown: the engine or the catalog does not answer.
        """
        ...
