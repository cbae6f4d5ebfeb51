"""Decides for the creators of streams, who send nothing any more that could be authenticated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, assert_never

from service.errors.source_errors import GrantRevoked
from service.ingest.streaming.stream_creator import KnownCreator, StreamCreator, UnknownCreator
from service.model.authentication.principals import Principal, PrincipalKind
from service.model.policies.decisions import FULL_ACCESS, Access
from service.ports.stores.policy_store import Policies

PrincipalNow = Callable[[Principal], Principal | None]
"""Returns what a principal is now; None if it has no valid credentials any more. Raises MetricsStoreDown."""


class CreatorRights(Protocol):
    """Decides whether the creator of a stream may still write. Any thread may call any method."""

    def access_of(self, creator: StreamCreator) -> Access:
        """Returns what the creator may do now.

        Raises:
            GrantRevoked: the creator has no valid credentials any more.
            MetricsStoreDown, PoliciesDown: that is not known now.
        """


class CreatorPolicies:
    """Implements `CreatorRights`: as `policies` decide for what a creator is now."""

    def __init__(self, policies: Policies, principal_now: PrincipalNow) -> None:
        self._policies = policies
        self._principal_now = principal_now

    def access_of(self, creator: StreamCreator) -> Access:
        """See `CreatorRights`."""
        match creator:
            case UnknownCreator(name):
                # Without roles: only a gateway without policies lets it write.
                return self._policies.access_of(Principal(name, PrincipalKind.TOKEN))
            case KnownCreator(before):
                now = self._principal_now(before)
                if now is None:
                    raise GrantRevoked
                return self._policies.access_of(now)
            case _:
                assert_never(creator)


class NoCreatorPolicies:
    """Implements `CreatorRights`: every creator may do everything."""

    def access_of(self, creator: StreamCreator) -> Access:  # noqa: ARG002
        """See `CreatorRights`."""
        return FULL_ACCESS
