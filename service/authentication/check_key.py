"""Checks an API key that a caller sends against the stored one."""

from __future__ import annotations

import hmac
from datetime import datetime
from typing import TypeVar

from service.errors.credential_errors import ApiKeyExpired, ApiKeyInvalid, ApiKeyRevoked
from service.model.authentication.api_keys import SentKey, StoredCredential, hash_of

Stored = TypeVar("Stored", bound=StoredCredential)
_NO_HASH = bytes(32)
"""Compared with the secret of a key that does not exist. No text has this hash."""


def check_key(sent: SentKey, key: Stored | None, now: datetime) -> Stored:
    """Returns the key if its secret is right and it is valid. A missing key takes as long as a wrong secret.

    Raises:
        ApiKeyInvalid: there is no key, or the secret is wrong.
        ApiKeyExpired: the key has expired.
        ApiKeyRevoked: the key was revoked.
    """
    is_right = hmac.compare_digest(hash_of(sent.secret), _NO_HASH if key is None else key.secret_sha256)
    if key is None or not is_right:
        raise ApiKeyInvalid
    # Only a caller with the right secret learns more.
    if key.revoked_at is not None:
        raise ApiKeyRevoked
    if key.expires_at is not None and key.expires_at <= now:
        raise ApiKeyExpired
    return key
