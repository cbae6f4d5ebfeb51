"""Policies in answers, and as the document that may be sent again."""

from __future__ import annotations

from collections.abc import Sequence

from api.http.schemas.wire import WireModel
from service.model.policies.policies import ColumnMask, Grant, PolicySet
from service.model.policies.ready_masks import ready_mask_of


class GrantAnswer(WireModel):
    """Actions on the tables of a pattern."""

    tables: str
    actions: list[str]


class RowFilterAnswer(WireModel):
    """The rows of the tables of a pattern that the role sees."""

    tables: str
    predicate: str


class ColumnMaskAnswer(WireModel):
    """The mask of a column: `mask` for a ready-made one, else `expression`."""

    tables: str
    column: str
    mask: str | None = None
    expression: str | None = None


class DefinerViewAnswer(WireModel):
    """A view that reads what is below it with the rights of the role."""

    view: str
    definition: str


class RoleAnswer(WireModel):
    """The policies of one role."""

    grants: list[GrantAnswer]
    denies: list[GrantAnswer]
    row_filters: list[RowFilterAnswer]
    masks: list[ColumnMaskAnswer]
    definer_views: list[DefinerViewAnswer]


class PoliciesAnswer(WireModel):
    """All policies at one version, as PUT takes them."""

    version: int
    roles: dict[str, RoleAnswer]


def roles_answer(policies: PolicySet) -> dict[str, RoleAnswer]:
    """Returns policies by role, in their one order."""
    names = dict.fromkeys(sorted(policy.role for policy in policies.policies))
    return {name: _role_answer(policies, name) for name in names}


def _role_answer(policies: PolicySet, role: str) -> RoleAnswer:
    ordered = policies.in_order()
    grants = [grant for grant in ordered.grants if grant.role == role]
    return RoleAnswer(
        grants=_grants([grant for grant in grants if not grant.is_denial]),
        denies=_grants([grant for grant in grants if grant.is_denial]),
        row_filters=[
            RowFilterAnswer(tables=str(found.pattern), predicate=found.predicate)
            for found in ordered.row_filters
            if found.role == role
        ],
        masks=[_mask_answer(mask) for mask in ordered.column_masks if mask.role == role],
        definer_views=[
            DefinerViewAnswer(view=str(found.view), definition=found.definition)
            for found in ordered.definer_views
            if found.role == role
        ],
    )


def _grants(grants: Sequence[Grant]) -> list[GrantAnswer]:
    actions: dict[str, list[str]] = {}
    for grant in grants:
        actions.setdefault(str(grant.pattern), []).append(grant.action.value)
    return [GrantAnswer(tables=pattern, actions=found) for pattern, found in actions.items()]


def _mask_answer(mask: ColumnMask) -> ColumnMaskAnswer:
    ready = ready_mask_of(mask.expression, mask.column)
    return ColumnMaskAnswer(
        tables=str(mask.pattern),
        column=mask.column,
        mask=None if ready is None else ready.value,
        expression=mask.expression if ready is None else None,
    )


def policies_answer(policies: PolicySet) -> PoliciesAnswer:
    """Returns the answer for all policies."""
    return PoliciesAnswer(version=policies.version, roles=roles_answer(policies))


def document_of(policies: PolicySet) -> dict[str, object]:
    """Returns the policies as PUT and files take them, without empty fields."""
    roles = roles_answer(policies)
    return {"version": policies.version, "roles": {name: _brief(role) for name, role in roles.items()}}


def _brief(role: RoleAnswer) -> dict[str, object]:
    dumped = role.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {name: value for name, value in dumped.items() if value}
