"""For whom a stream writes: a principal that proved who it is, or one of whom only the name is known."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.authentication.principals import Principal, PrincipalKind
from service.model.ingest.streams import CreatorRoles, StreamRecord


@dataclass(frozen=True, slots=True)
class KnownCreator:
    """A creator as it was when it created or last resumed the stream."""

    principal: Principal


@dataclass(frozen=True, slots=True)
class UnknownCreator:
    """A creator of whom it is not known how it proved who it is. Policies give it nothing.

    An earlier version created the stream, or a newer one whose kind of principal this version does not know.
    """

    name: str


StreamCreator = KnownCreator | UnknownCreator


def roles_of(principal: Principal) -> CreatorRoles:
    """Returns what is stored of the principal that creates or resumes a stream."""
    return CreatorRoles(principal.kind.value, principal.roles, principal.key_id)


def creator_of(record: StreamRecord) -> StreamCreator:
    """Returns the creator of a stream."""
    known = record.creator_roles
    kinds = {kind.value: kind for kind in PrincipalKind}
    if known is None or known.kind not in kinds:
        return UnknownCreator(record.caller)
    return KnownCreator(Principal(record.caller, kinds[known.kind], known.roles, key_id=known.key_id))
