"""Decides for the creators of streams, who send nothing any more that could be authenticated."""

from __future__ import annotations

from collections.abc import Callable

from service.errors.source_errors import GrantRevoked
from service.ingest.streaming.stream_creator import is_known
from service.model.authentication.principals import Principal
from service.model.policies.decisions import Access
from service.ports.stores.policy_store import Policies


class CreatorPolicies:
    """Implements `Policies`: as `policies` decide for what a creator is now.

    `principal_now` returns that, or None if it has no valid credentials any more; it raises MetricsStoreDown.
    """

    def __init__(self, policies: Policies, principal_now: Callable[[Principal], Principal | None]) -> None:
        self._policies = policies
        self._principal_now = principal_now

    def access_of(self, principal: Principal) -> Access:
        """See `Policies`.

        Raises:
            GrantRevoked: the creator has no valid credentials any more.
            MetricsStoreDown: that is not known now.
        """
        if not is_known(principal):
            return self._policies.access_of(principal)
        now = self._principal_now(principal)
        if now is None:
            raise GrantRevoked
        return self._policies.access_of(now)
