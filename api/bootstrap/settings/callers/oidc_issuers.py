"""Issuers of access tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from api.bootstrap.spelling import NO_CONTROLS
from service.model.authentication.addresses import is_safe_address

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
