"""Ports of authentication: the store of API keys, and the verifier of access tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from service.model.authentication.access_tokens import ReadToken, SigningKey
from service.model.authentication.api_keys import ApiKey
from service.model.authentication.principals import Principal


class PrincipalKeys(Protocol):
    """Finds API keys by their principal."""

    def of_principal(self, name: str) -> Sequence[ApiKey]:
        """Returns the principal's keys that were not revoked, also expired ones; 1,000 at most.

        Those that are valid for longest come first.

        Raises:
            MetricsStoreDown: the store does not answer.
        """
        ...


class ApiKeyStore(PrincipalKeys, Protocol):
    """Keeps API keys for all replicas. Each method raises MetricsStoreDown if the store does not answer."""

    def add(self, key: ApiKey) -> None:
        """Stores a new key durably."""
        ...

    def find(self, key_ids: Collection[str]) -> Mapping[str, ApiKey]:
        """Returns the current state of the keys with these ids, without ids that have no key."""
        ...

    def newest(self, limit: int) -> Sequence[ApiKey]:
        """Returns keys, the newest first, also expired and revoked ones."""
        ...

    def revoke(self, key_id: str, by: str) -> ApiKey | None:
        """Revokes a key. A later call changes nothing. None: there is no such key."""
        ...

    def note_uses(self, uses: Mapping[str, datetime]) -> None:
        """Stores when these keys were last used, unless a later use is stored."""
        ...


class TokenVerifier(Protocol):
    """Reads and verifies access tokens of the issuers that the operator trusts."""

    def read(self, token: str) -> ReadToken:
        """Reads a token without verifying it.

        Raises:
            AccessTokenInvalid: it is not a token, or comes from another issuer.
        """
        ...

    def verify(self, token: ReadToken, key: SigningKey) -> Principal:
        """Verifies a token, and returns its principal.

        Raises:
            AccessTokenInvalid: the signature or a claim is wrong.
            AccessTokenExpired: the token is no longer valid.
        """
        ...

    def fetch(self, issuer: str) -> Mapping[str, SigningKey]:
        """Returns the keys that the issuer publishes now, by their ids. Takes seconds at most.

        Raises:
            AuthenticationDown: the issuer does not answer, or its answer is not a set of keys.
        """
        ...
