"""The authorization code flow of OpenID Connect: what an issuer offers for it, and what it issues."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ERROR = re.compile(r"[a-z_]{1,64}")


@dataclass(frozen=True, slots=True)
class LoginEndpoints:
    """Where an issuer logs users in, as its discovery document says.

    Browsers are led to `authorization`, and `token` gives tokens for a code. With `names_itself`, the issuer
    adds `iss` when it leads browsers back (RFC 9207). With `takes_basic`, a client's secret goes into the
    head of a request, otherwise into its body.
    """

    authorization: str
    token: str
    names_itself: bool = False
    takes_basic: bool = True


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """The tokens that an issuer gave for a code. `access_token` is empty if there is none."""

    id_token: str = field(repr=False)
    access_token: str = field(default="", repr=False)


def shown_error(error: object) -> str:
    """Returns an error code of OAuth as logs may have it: other texts could be anything.

    >>> shown_error("access_denied"), shown_error("a code: 7"), shown_error(None)
    ('access_denied', 'other', 'other')
    """
    return error if isinstance(error, str) and _ERROR.fullmatch(error) else "other"
