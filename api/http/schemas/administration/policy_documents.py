"""Policies as a document, in requests and files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from api.http.schemas.wire import StrictModel
from service.model.policies.actions import Action
from service.model.policies.policies import (
    AnyPolicy,
    ColumnMask,
    DefinerView,
    Grant,
    PolicySet,
    RowFilter,
    is_role_name,
)
from service.model.policies.ready_masks import ReadyMask, expression_of
from service.model.policies.table_patterns import MAX_PATTERN_LENGTH, MAX_WILDCARDS, TablePattern
from service.model.storable_texts import text_fault
from service.model.tables.tables import TableName
from service.policies.manage_policies import Proposal

MAX_ROLES = 10_000


_DIGEST = re.compile("[0-9a-f]{64}")


def _role(name: str) -> str:
    if not is_role_name(name):
        raise ValueError("a role's name is printable, has 255 characters at most, and no space at its ends")
    return name


def _pattern(text: str) -> str:
    # Read once here for its error; `proposal` reads it again.
    try:
        return str(TablePattern.parse(text))
    except ValueError:
        raise ValueError(
            "tables are named like catalog.schema.table, without quotes and spaces; each part may have `*`,"
            f" {MAX_WILDCARDS} at most"
        ) from None


def _view(text: str) -> str:
    _pattern(text)
    if "*" in text:
        raise ValueError("one view is named like catalog.schema.view, without `*`")
    return text


def _definition(text: str) -> str:
    if not _DIGEST.fullmatch(text):
        raise ValueError("a definition has 64 digits, each 0 to 9 or a to f")
    return text


def _sql(text: str) -> str:
    if fault := text_fault(text):
        raise ValueError(f"it {fault}")
    if not text.strip():
        raise ValueError("it is empty")
    return text


def _ready_mask(value: object) -> object:
    # In YAML, `null` is a value and not a text.
    return ReadyMask.NULL.value if value is None else value


ActionName = Literal["select", "insert", "modify", "describe", "create", "maintain", "admin"]


RoleName = Annotated[str, AfterValidator(_role)]


PatternText = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_PATTERN_LENGTH),
    AfterValidator(_pattern),
    Field(description="catalog.schema.table; each part may have `*`, for any characters of this part"),
]


Sql = Annotated[str, AfterValidator(_sql)]


ViewName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_PATTERN_LENGTH),
    AfterValidator(_view),
    Field(description="catalog.schema.view, with the case that its catalog has"),
]


Definition = Annotated[
    str,
    AfterValidator(_definition),
    Field(
        description="the digest of the view, and of the views below it, that has these rights; none: that of"
        " the view as it is now, or the one that is stored"
    ),
]


ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_sql)]


class GrantBody(StrictModel):
    """Actions on the tables of a pattern."""

    tables: PatternText
    actions: Annotated[list[ActionName], Field(min_length=1, max_length=len(Action))]


class RowFilterBody(StrictModel):
    """The rows of the tables of a pattern that the role sees."""

    tables: PatternText
    predicate: Annotated[
        Sql, Field(description="SQL on the table's columns; only rows where it is true are seen")
    ]


class ColumnMaskBody(StrictModel):
    """The role sees the value of `mask` or `expression` instead of the column's value."""

    tables: PatternText
    column: ColumnName
    mask: Annotated[
        Literal["null", "hash", "last_four", "year_only", "redact"] | None,
        BeforeValidator(_ready_mask),
        Field(description="a ready-made mask"),
    ] = None
    expression: Annotated[
        Sql | None, Field(description="SQL on the table's columns, of the column's type")
    ] = None

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if ("mask" in self.model_fields_set) == (self.expression is not None):
            raise ValueError("a mask has either `mask` or `expression`")
        return self

    @property
    def sql(self) -> str:
        """The expression, also of a ready-made mask."""
        if self.expression is not None:
            return self.expression
        return expression_of(ReadyMask(self.mask or ReadyMask.NULL), self.column)


class DefinerViewBody(StrictModel):
    """A view that reads what is below it with the rights of the role, whoever reads it."""

    view: ViewName
    definition: Definition | None = None


class RoleBody(StrictModel):
    """The policies of one role. A role without policies is the same as no role."""

    grants: tuple[GrantBody, ...] = Field((), strict=False)
    denies: tuple[GrantBody, ...] = Field((), strict=False)
    row_filters: tuple[RowFilterBody, ...] = Field((), strict=False)
    masks: tuple[ColumnMaskBody, ...] = Field((), strict=False)
    definer_views: tuple[DefinerViewBody, ...] = Field((), strict=False)


class PoliciesBody(StrictModel):
    """All policies. Those that the document does not have are removed."""

    version: Annotated[
        int | None, Field(ge=0, description="the version that was read; If-Match says the same")
    ] = None
    roles: Annotated[dict[RoleName, RoleBody], Field(max_length=MAX_ROLES)]

    def proposal(self) -> Proposal:
        """Returns the policies in the terms of the service, each with its place."""
        placed = dict(_placed(self))
        return Proposal(policies_of(placed), placed)


def policies_of(policies: Mapping[AnyPolicy, str]) -> PolicySet:
    """Returns the policies as one set, in their one order."""
    return PolicySet(
        grants=tuple(policy for policy in policies if isinstance(policy, Grant)),
        row_filters=tuple(policy for policy in policies if isinstance(policy, RowFilter)),
        column_masks=tuple(policy for policy in policies if isinstance(policy, ColumnMask)),
        definer_views=tuple(policy for policy in policies if isinstance(policy, DefinerView)),
    ).in_order()


def _placed(body: PoliciesBody) -> Iterator[tuple[AnyPolicy, str]]:
    for role, of_role in body.roles.items():
        place = "/roles/" + role.replace("~", "~0").replace("/", "~1")
        for field, is_denial in (("grants", False), ("denies", True)):
            for number, grant in enumerate(of_role.denies if is_denial else of_role.grants):
                pattern = TablePattern.parse(grant.tables)
                for action in grant.actions:
                    yield Grant(role, Action(action), pattern, is_denial), f"{place}/{field}/{number}"
        for number, row_filter in enumerate(of_role.row_filters):
            pattern = TablePattern.parse(row_filter.tables)
            yield RowFilter(role, pattern, row_filter.predicate), f"{place}/rowFilters/{number}/predicate"
        for number, mask in enumerate(of_role.masks):
            pattern = TablePattern.parse(mask.tables)
            field = "mask" if mask.expression is None else "expression"
            yield ColumnMask(role, pattern, mask.column, mask.sql), f"{place}/masks/{number}/{field}"
        for number, found in enumerate(of_role.definer_views):
            view = DefinerView(role, TableName.of(found.view), found.definition or "")
            yield view, f"{place}/definerViews/{number}/view"
