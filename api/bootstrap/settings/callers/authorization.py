"""Settings of authorization: whether policies decide, and the bounds on policies."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from api.bootstrap.settings.callers.authentication import AuthenticationSettings
from api.bootstrap.settings.value_types import KIB, CallerName
from service.model.policies.policies import is_role_name


class Authorization(StrEnum):
    """Who decides what callers may do."""

    OFF = "off"
    POLICIES = "policies"


def _role(name: str) -> str:
    if not is_role_name(name):
        raise ValueError("a role's name is printable, has 255 characters at most, and no space at its ends")
    return name


RoleName = Annotated[str, AfterValidator(_role)]


class AuthorizationSettings(AuthenticationSettings):
    """Whether policies decide, who has which roles, and the bounds on policies."""

    authorization: Authorization = Field(
        Authorization.OFF,
        description="off: every caller who is admitted may do everything; policies: what policies grant to"
        " their roles",
    )
    principal_roles: dict[CallerName, tuple[RoleName, ...]] = Field(
        {},
        description="caller to its roles, for tokens of api_tokens and client certificates; API keys and"
        " access tokens bring their own",
    )
    policies_poll_s: int = Field(
        2, ge=1, le=60, description="how often a change of policies by another replica is looked for"
    )
    policies_max_age_s: int = Field(
        300,
        ge=5,
        le=86_400,
        description="how long known policies count while the metrics store is down; after that, a 503",
    )
    policies_max_count: int = Field(
        5_000, ge=1, le=100_000, description="grants, denials, row filters and masks together"
    )
    policies_max_expression_bytes: int = Field(
        4 * KIB, ge=64, le=64 * KIB, description="SQL of one row filter or mask"
    )
    policies_max_checks: int = Field(
        1_000,
        ge=0,
        le=100_000,
        description="how often a change checks the SQL of a row filter or mask on a table; beyond it, a query"
        " that uses it does",
    )

    @model_validator(mode="after")
    def _roles_are_of_known_callers(self) -> Self:
        unknown = self.principal_roles.keys() - self.api_tokens.keys()
        if unknown and not self._has_certificates:
            raise ValueError(f"principal_roles names {min(unknown)}, who has no token in api_tokens")
        return self

    @model_validator(mode="after")
    def _known_policies_outlast_a_poll(self) -> Self:
        if self.policies_max_age_s <= 2 * self.policies_poll_s:
            raise ValueError("policies_max_age_s is not more than twice policies_poll_s")
        return self
