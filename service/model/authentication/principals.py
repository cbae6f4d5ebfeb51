"""The caller of a request, as the rest of the gateway knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from service.model.operations.caller_classes import ANONYMOUS, ANONYMOUS_CALLER, AUTHENTICATED

ADMIN_ROLE = "admin"
MAX_NAME_CHARACTERS = 255


class PrincipalKind(StrEnum):
    """The kind of credentials of a principal."""

    ANONYMOUS = "anonymous"
    TOKEN = "token"
    KEY = "key"
    OIDC = "oidc"
    CERTIFICATE = "certificate"


@dataclass(frozen=True, slots=True)
class Principal:
    """One caller: a person or a program.

    `name` is the caller of queries, ingests and streams. Metrics show only `caller_class`.
    `claims` says where an identity comes from, such as its issuer. `key_id` is set for API keys.
    """

    name: str
    kind: PrincipalKind
    roles: frozenset[str] = frozenset()
    caller_class: str = AUTHENTICATED
    key_id: str | None = None
    claims: Mapping[str, str] = field(default_factory=dict, hash=False)


NOBODY = Principal(ANONYMOUS_CALLER, PrincipalKind.ANONYMOUS, caller_class=ANONYMOUS)
"""The principal of all requests if the gateway requires no credentials."""


@dataclass(frozen=True, slots=True)
class Admins:
    """Principals that may manage API keys: those with these names, and API keys with the role `admin`.

    A role from a token's claims does not make an administrator, because the issuer would decide it.

    >>> admins = Admins(frozenset({"ops"}))
    >>> admins.has(Principal("ops", PrincipalKind.TOKEN)), admins.has(NOBODY)
    (True, False)
    """

    names: frozenset[str] = frozenset()

    def has(self, principal: Principal) -> bool:
        """Whether the principal is an administrator."""
        is_admin_key = principal.kind is PrincipalKind.KEY and ADMIN_ROLE in principal.roles
        return is_admin_key or (
            principal.kind is not PrincipalKind.ANONYMOUS and principal.name in self.names
        )


def is_principal_name(name: object) -> bool:
    r"""Whether a principal may have this name: printable, bounded, and not `anonymous`.

    >>> [is_principal_name(name) for name in ("corp:ada@example.org", "anonymous", "a\nb", "", 7)]
    [True, False, False, False, False]
    """
    return (
        isinstance(name, str)
        and 0 < len(name) <= MAX_NAME_CHARACTERS
        and name.isprintable()
        and name != ANONYMOUS_CALLER
    )
