"""Access tokens of OIDC issuers, and the keys that sign them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ReadToken:
    """A token whose signature is not verified yet, so that nothing in it may be trusted."""

    text: str = field(repr=False)
    issuer: str
    """The operator's name for the issuer."""
    key_id: str
    """The id of the signing key. Empty: the token names none."""
    algorithm: str


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A public key, and the algorithms that it may verify."""

    key_id: str
    algorithms: frozenset[str]
    material: object = field(repr=False, hash=False)
