"""The credential in a request's head."""

from __future__ import annotations

from collections.abc import Sequence

from api.http.problems.http_errors import Unauthenticated
from service.errors.credential_errors import CredentialFault

MAX_BYTES = 64 * 1024


def bearer_of(values: Sequence[str]) -> str | None:
    """Returns the text after `Bearer` in the `Authorization` header. None: there is no such header.

    Raises:
        Unauthenticated: there are several headers, or it has another scheme, or is empty or too large.

    >>> bearer_of(["bearer  abc "]), bearer_of([])
    ('abc', None)
    """
    if not values:
        return None
    if len(values) > 1:
        raise Unauthenticated(reason=CredentialFault.MALFORMED)
    scheme, _, text = values[0].partition(" ")
    text = text.strip()
    if scheme.lower() != "bearer" or not text or len(text) > MAX_BYTES:
        raise Unauthenticated(reason=CredentialFault.MALFORMED)
    return text
