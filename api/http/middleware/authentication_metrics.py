"""Counts successful and failed authentications."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter

from service.errors.credential_errors import CredentialFault
from service.model.authentication.principals import PrincipalKind

NO_KIND = "none"
"""The kind of a request without credentials."""


class AuthenticationMetrics:
    """Counts by kind of principal and by `CredentialFault`, so that labels are bounded.

    Its methods must be called on the event loop's thread.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._accepted = Counter(
            "sluice_authentications",
            "Requests that were authenticated, by the kind of their credentials.",
            ["kind"],
            registry=registry,
        )
        self._failed = Counter(
            "sluice_authentication_failures",
            "Requests whose credentials were refused, by their kind and by the reason.",
            ["kind", "reason"],
            registry=registry,
        )
        self._throttled = Counter(
            "sluice_authentication_throttled",
            "Failed authentications that were answered with a 429, after too many others.",
            registry=registry,
        )

    def accepted(self, kind: PrincipalKind) -> None:
        """Counts a successful authentication."""
        self._accepted.labels(kind.value).inc()

    def failed(self, kind: str, reason: CredentialFault, *, is_throttled: bool) -> None:
        """Counts a failed one."""
        self._failed.labels(kind, reason.value).inc()
        if is_throttled:
            self._throttled.inc()
