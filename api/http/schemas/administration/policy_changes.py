"""Changes of policies, and decisions, in requests and answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from api.http.schemas.administration.policy_answers import RoleAnswer, roles_answer
from api.http.schemas.administration.policy_documents import ActionName, RoleName, policies_of
from api.http.schemas.wire import StrictModel, WireModel
from service.model.policies.decisions import Allowed, Decision
from service.model.policies.policies import AnyPolicy
from service.model.policies.policy_changes import PolicyChange
from service.policies.manage_policies import PlannedChange


class DifferenceAnswer(WireModel):
    """The policies that a change adds and removes. An edited policy is in both."""

    added: dict[str, RoleAnswer]
    removed: dict[str, RoleAnswer]


class PlannedChangeAnswer(WireModel):
    """A change that was made, or that would be."""

    version: Annotated[int, Field(description="the version after the change")]
    is_dry_run: bool
    difference: DifferenceAnswer
    warnings: list[str]


class PolicyChangeAnswer(WireModel):
    """One change of policies."""

    version: int
    changed_at: datetime
    changed_by: str
    difference: DifferenceAnswer


class PolicyChangesAnswer(WireModel):
    """Changes of policies, the newest first."""

    changes: list[PolicyChangeAnswer]


class DecideBody(StrictModel):
    """A question to the policies."""

    roles: Annotated[list[RoleName], Field(max_length=100)]
    action: ActionName
    table: Annotated[str, StringConstraints(max_length=1000), Field(description="catalog.schema.table")]


class DecisionAnswer(WireModel):
    """The decision about one action of these roles on one table."""

    version: int
    decision: Annotated[str, Field(description="`ALLOWED`, `DENIED` by a denial, or `NOT_GRANTED`")]
    row_filter: Annotated[
        str | None, Field(description="only rows where it is true are seen; null: all rows")
    ]
    masks: Annotated[
        dict[str, str], Field(description="column to the expression whose value is seen instead")
    ]


def _difference_answer(added: Sequence[AnyPolicy], removed: Sequence[AnyPolicy]) -> DifferenceAnswer:
    return DifferenceAnswer(
        added=roles_answer(policies_of(dict.fromkeys(added, ""))),
        removed=roles_answer(policies_of(dict.fromkeys(removed, ""))),
    )


def planned_change_answer(planned: PlannedChange, *, is_dry_run: bool) -> PlannedChangeAnswer:
    """Returns the answer for a change."""
    return PlannedChangeAnswer(
        version=planned.policies.version,
        is_dry_run=is_dry_run,
        difference=_difference_answer(planned.difference.added, planned.difference.removed),
        warnings=list(planned.warnings),
    )


def policy_change_answer(change: PolicyChange) -> PolicyChangeAnswer:
    """Returns the answer for one entry of the history."""
    return PolicyChangeAnswer(
        version=change.version,
        changed_at=change.changed_at,
        changed_by=change.changed_by,
        difference=_difference_answer(change.difference.added, change.difference.removed),
    )


def decision_answer(version: int, decision: Decision) -> DecisionAnswer:
    """Returns the answer for a decision."""
    if isinstance(decision, Allowed):
        return DecisionAnswer(
            version=version,
            decision="ALLOWED",
            row_filter=decision.restriction.row_filter,
            masks=dict(decision.restriction.masks),
        )
    name = "DENIED" if decision.is_denied else "NOT_GRANTED"
    return DecisionAnswer(version=version, decision=name, row_filter=None, masks={})
