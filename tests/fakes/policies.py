"""The administration of policies over fakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from service.model.policies.checks import CheckedPolicy, PolicyProblem
from service.model.policies.policies import RowFilter
from service.model.tables.tables import TableListing, TableName
from service.policies.live_policies import LivePolicies
from service.policies.manage_policies import PolicyBounds, PolicyService
from tests.fakes.policy_store import FakePolicyStore


class FakePolicyChecker:
    """The `PolicyChecker` port: SQL in `faulty` has this problem. `checked` has what was asked.

    `views` are definitions by name.
    """

    def __init__(
        self, faulty: Mapping[str, str] | None = None, views: Mapping[TableName, str] | None = None
    ) -> None:
        self.faulty = dict(faulty or {})
        self.views = dict(views or {})
        self.checked: list[tuple[TableName, CheckedPolicy]] = []

    def check(self, table: TableName, policies: Sequence[CheckedPolicy]) -> Sequence[PolicyProblem]:
        self.checked += [(table, policy) for policy in policies]
        texts = [(policy, _sql(policy)) for policy in policies]
        return [
            PolicyProblem(policy, self.faulty[text], table) for policy, text in texts if text in self.faulty
        ]

    def definition(self, view: TableName) -> str | None:
        return self.views.get(view)


def fake_policies(
    tables: Callable[[], TableListing],
    store: FakePolicyStore | None = None,
    checker: FakePolicyChecker | None = None,
    live: LivePolicies | None = None,
    bounds: PolicyBounds | None = None,
) -> PolicyService:
    return PolicyService(
        store or FakePolicyStore(), checker or FakePolicyChecker(), tables, bounds or PolicyBounds(), live
    )


def _sql(policy: CheckedPolicy) -> str:
    return policy.predicate if isinstance(policy, RowFilter) else policy.expression
