"""The parts of the console that a caller may use. Each route decides for itself all the same."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum

from api.http.app_context import AppContext
from service.errors.policy_errors import PoliciesDown
from service.errors.unavailable import EngineNotReady, ShuttingDown
from service.model.authentication.principals import Admins, Principal
from service.policies.require import administers


class Right(StrEnum):
    """A part of the console that some callers alone may use, by the routes that it asks.

    `allQueries`: the queries of all callers. `filters`: the shared keys of filters.
    `replicas`: the other gateways.
    """

    ALL_QUERIES = "allQueries"
    FILTERS = "filters"
    REPLICAS = "replicas"
    KEYS = "keys"
    POLICIES = "policies"
    AUDIT = "audit"


def rights_of(app_context: AppContext, principal: Principal) -> list[Right]:
    """Returns what the principal may use now. While the gateway starts, this may be less than later."""
    settings = app_context.settings
    rights: list[Right] = []
    is_admin = Admins(frozenset(settings.admins)).has(principal)
    if is_admin:
        rights.append(Right.AUDIT)
        # Also while policies decide nothing: the stored ones can be read and changed still.
        if settings.has_authentication:
            rights.append(Right.POLICIES)
        if settings.api_keys:
            rights.append(Right.KEYS)
    with suppress(EngineNotReady, ShuttingDown, PoliciesDown):
        access = app_context.access.gateway.access_of(principal)
        if access.administers_all():
            rights += [Right.FILTERS, Right.REPLICAS]
        if administers(access):
            rights.append(Right.ALL_QUERIES)
        service = app_context.access.gateway.policy_service
        if settings.has_authentication and not is_admin and service.is_administered_by(principal.roles):
            rights.append(Right.POLICIES)
    return rights
