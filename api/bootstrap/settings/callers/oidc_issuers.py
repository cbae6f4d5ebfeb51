"""Issuers of access tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from api.bootstrap.settings.value_types import KIB, Name
from api.bootstrap.spelling import NO_CONTROLS
from service.model.authentication.addresses import is_safe_address

MOST_ISSUERS = 20
Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "ES256K", "EdDSA"
]
"""Only algorithms with public keys: the gateway shares no secret with an issuer."""


def _safe(url: str) -> str:
    if not is_safe_address(url):
        raise ValueError("it is not an https address (http is accepted only for loopback)")
    return url


Address = Annotated[str, Field(max_length=2048), NO_CONTROLS, AfterValidator(_safe)]
Text = Annotated[str, Field(min_length=1, max_length=255), NO_CONTROLS]


class OidcIssuer(BaseModel):
    """An issuer whose access tokens are accepted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: Address
    audiences: tuple[Text, ...] = Field(min_length=1, max_length=20)
    algorithms: tuple[Algorithm, ...] = Field(("RS256", "ES256"), min_length=1)
    required_claims: dict[Text, str | int | bool | None] = {}
    principal_claim: Text = "sub"
    principal_prefix: Annotated[str, Field(max_length=64)] | None = None
    roles_claim: Annotated[str, Field(max_length=255)] = ""
    leeway_s: int = Field(30, ge=0, le=300)
    keys_url: Address | None = None
    ca_file: Path | None = None


class IssuerSettings(BaseModel):
    """Issuers of access tokens."""

    oidc_issuers: dict[Name, OidcIssuer] = Field(
        {},
        max_length=MOST_ISSUERS,
        description="your name for an issuer of access tokens (JWT) to {issuer, audiences, …}",
    )
    oidc_keys_max_age_s: int = Field(
        300, ge=10, le=86_400, description="age at which an issuer's keys are fetched again"
    )
    oidc_keys_cooldown_s: int = Field(
        5, ge=1, le=300, description="minimum time between two fetches of an issuer's keys"
    )
    oidc_outage_s: int = Field(
        86_400, ge=0, le=30 * 86_400, description="how long an issuer's keys still count while it is down"
    )
    oidc_fetch_timeout_s: int = Field(
        5, ge=1, le=60, description="how long a fetch of an issuer's keys may take"
    )
    oidc_max_token_bytes: int = Field(
        8 * KIB, ge=KIB, le=64 * KIB, description="size of an access token; larger ones are refused"
    )
