"""The external parts that policies need: small Protocols, named for the need."""

from __future__ import annotations

from typing import Protocol

from service.model.authentication.principals import Principal
from service.model.policies.decisions import FULL_ACCESS, Access


class Policies(Protocol):
    """Decides who may do what. An external engine of policies can stand behind it."""

    def access_of(self, principal: Principal) -> Access:
        """Returns what the principal may do, by the policies of this moment. Returns at once.

        Raises:
            GatewayError: they are not known now.
        """


class NoPolicies:
    """Implements `Policies` for a gateway where each principal may do everything."""

    def access_of(self, principal: Principal) -> Access:  # noqa: ARG002
        """See `Policies`."""
        return FULL_ACCESS
