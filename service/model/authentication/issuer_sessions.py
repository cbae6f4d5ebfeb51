"""Sessions of browsers whose users an issuer has logged in."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from service.model.authentication.api_keys import SentKey, sent_key

ISSUER_SESSION = "oidc."
"""Before the text of such a session, which has the form of a key, so that logs hide it as they hide a key."""


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """A user, as an issuer has named them. `until` is when its tokens expire, in UTC.

    Args:
        issuer: the operator's name for the issuer.
        issuer_url: its `iss`.
        subject: its `sub`.
        name: the principal's name.
    """

    issuer: str
    issuer_url: str
    subject: str
    name: str
    roles: frozenset[str]
    until: datetime


@dataclass(frozen=True, slots=True)
class IssuerSession:
    """A session as it is stored. It ends at `expires_at`, and not later than the tokens of its login."""

    session_id: str
    secret_sha256: bytes = field(repr=False)
    user: LoggedIn
    created_at: datetime
    expires_at: datetime

    @property
    def key_id(self) -> str:
        """Its id, under the name that all credentials have for it."""
        return self.session_id

    @property
    def revoked_at(self) -> datetime | None:
        """None: a session that was ended is not stored."""
        return None


@dataclass(frozen=True, slots=True)
class OpenedIssuerSession:
    """A new session, and its whole text, which is not stored anywhere."""

    session: IssuerSession
    text: str = field(repr=False)


def is_of_issuer(text: str) -> bool:
    """Whether the text of a session is that of one that an issuer's login has opened.

    >>> is_of_issuer("oidc.sluice_1_2"), is_of_issuer("sluice_1_2")
    (True, False)
    """
    return text.startswith(ISSUER_SESSION)


def sent_session(text: str) -> SentKey | None:
    """Returns the id and the secret of a session of either kind. None: the text is not a session.

    >>> sent_session("oidc.sluice_0123456789abcdef_" + "A" * 43)
    SentKey(key_id='0123456789abcdef')
    """
    return sent_key(text.removeprefix(ISSUER_SESSION))
