"""API keys in requests and answers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from api.bootstrap.spelling import NO_CONTROLS_OR_EMPTY, Spelled
from api.http.schemas.wire import StrictModel, WireModel
from service.authentication.manage_keys import KeyRequest
from service.model.authentication.api_keys import ApiKey, MadeKey
from service.model.authentication.principals import is_principal_name

LONGEST_DAYS = 3_650
_ROLE = Spelled(
    r"^[A-Za-z_][A-Za-z0-9_-]{0,62}$",
    "a role has letters, digits, _ and -, begins with a letter or _, and has 63 characters at most",
)


def _name(name: str) -> str:
    if not is_principal_name(name):
        raise ValueError("a principal's name is printable, and not anonymous")
    return name


class KeyBody(StrictModel):
    """A request for a new key."""

    principal: Annotated[
        str,
        StringConstraints(min_length=1, max_length=255),
        AfterValidator(_name),
        Field(description="whose key it is: the caller of its queries and ingests"),
    ]
    roles: Annotated[list[Annotated[str, _ROLE]], Field(default_factory=list, max_length=50)]
    description: Annotated[str, StringConstraints(max_length=1000), NO_CONTROLS_OR_EMPTY] = ""
    expires_in_days: Annotated[
        int | None, Field(ge=1, le=LONGEST_DAYS, description="null: it does not expire")
    ] = 90

    def request(self) -> KeyRequest:
        """Returns the request in the terms of the service."""
        lifetime = None if self.expires_in_days is None else timedelta(days=self.expires_in_days)
        return KeyRequest(self.principal, frozenset(self.roles), self.description, lifetime)


class KeyAnswer(WireModel):
    """A key, without its secret."""

    key_id: str
    principal: str
    roles: list[str]
    description: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None


class MadeKeyAnswer(KeyAnswer):
    """A new key. `key` is shown only here."""

    key: str


class KeyList(WireModel):
    """Keys, the newest first."""

    keys: list[KeyAnswer]


def key_answer(key: ApiKey) -> KeyAnswer:
    """Returns the answer for a key."""
    return KeyAnswer(
        key_id=key.key_id,
        principal=key.name,
        roles=sorted(key.roles),
        description=key.description,
        created_at=key.created_at,
        created_by=key.created_by,
        expires_at=key.expires_at,
        last_used_at=key.last_used_at,
        revoked_at=key.revoked_at,
        revoked_by=key.revoked_by,
    )


def made_key_answer(made: MadeKey) -> MadeKeyAnswer:
    """Returns the answer for a new key, with its whole text."""
    return MadeKeyAnswer(**key_answer(made.key).model_dump(), key=made.text)
