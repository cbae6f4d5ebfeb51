"""Describes an issuer that the operator trusts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Claim = str | int | bool


@dataclass(frozen=True, slots=True)
class TrustedIssuer:
    """An issuer of access tokens.

    Args:
        name: the operator's name for it.
        url: the exact `iss` of its tokens.
        audiences: a token must have one of them as `aud`.
        algorithms: the accepted algorithms.
        required_claims: claims with the value that they must have. None: any value.
        principal_claim: the claim that names the principal, after `principal_prefix`.
        roles_claim: a claim, or a path such as `realm_access.roles`. Empty: tokens bring no roles.
        keys_url: the address of its keys. None: its discovery document names it.
        ca_file: the authorities of its server's certificate. None: the system's.
    """

    name: str
    url: str
    audiences: tuple[str, ...]
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    required_claims: Mapping[str, Claim | None] = field(default_factory=dict)
    principal_claim: str = "sub"
    principal_prefix: str = ""
    roles_claim: str = ""
    leeway_s: int = 30
    keys_url: str | None = None
    ca_file: Path | None = None
