"""The principal for whom a stream writes."""

from __future__ import annotations

from service.model.authentication.principals import Principal, PrincipalKind
from service.model.ingest.streams import CreatorRoles, StreamRecord

_UNKNOWN = {"kind": "not known"}


def is_known(creator: Principal) -> bool:
    """Whether it is known how the creator of a stream proved who it is."""
    return creator.claims != _UNKNOWN


def roles_of(principal: Principal) -> CreatorRoles:
    """Returns what is stored of the principal that creates or resumes a stream."""
    return CreatorRoles(principal.kind.value, principal.roles)


def creator_of(record: StreamRecord) -> Principal:
    """Returns the creator of a stream. Without known roles, policies give it nothing.

    Roles are not known if an earlier version created the stream, or a newer one whose kind of principal this
    version does not know.
    """
    known = record.creator_roles
    kinds = {kind.value: kind for kind in PrincipalKind}
    if known is None or known.kind not in kinds:
        return Principal(record.caller, PrincipalKind.TOKEN, claims=_UNKNOWN)
    return Principal(record.caller, kinds[known.kind], known.roles)
