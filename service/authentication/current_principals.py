"""Finds out what a principal is now that proved earlier who it is, without its credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from service.authentication.known_keys import KeyTimes
from service.bounded_lru import BoundedLru
from service.errors.unavailable import MetricsStoreDown
from service.model.authentication.api_keys import ApiKey
from service.model.authentication.principals import Principal, PrincipalKind
from service.ports.clock import Clock
from service.ports.stores.api_key_store import PrincipalKeys

MAX_PRINCIPALS = 10_000
_KEYS_BYTES = 16 << 20
_TIMES = KeyTimes()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWays:
    """The ways to authenticate that the operator has enabled.

    `tokens` has the names of callers with a token, and `roles` those of tokens and certificates by name.
    """

    is_open: bool = False
    tokens: frozenset[str] = frozenset()
    has_certificates: bool = False
    has_issuers: bool = False
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict)


class CurrentPrincipals:
    """Finds principals that have been here before. Any thread may call any method.

    Tokens and certificates are as the settings say. A principal that came with an API key needs that key to
    be valid, and has no role beyond the key's. If its key is not known, as in what earlier versions stored,
    any valid one of the same name counts. An issuer cannot be asked: its principals stay as they were.
    """

    def __init__(
        self,
        ways: KnownWays,
        keys: PrincipalKeys | None,
        clock: Clock,
        times: KeyTimes = _TIMES,
    ) -> None:
        """`keys` is None if no API keys are accepted."""
        self._ways = ways
        self._keys = keys
        self._clock = clock
        self._times = times
        self._known = BoundedLru[str, tuple[int, tuple[ApiKey, ...]]](
            max_entries=MAX_PRINCIPALS, max_bytes=_KEYS_BYTES
        )

    def now(self, before: Principal) -> Principal | None:
        """Returns the principal with its roles of now. None: it has no valid credentials any more.

        Takes as long as the store of keys, unless it was asked within `fresh_s`.

        Raises:
            MetricsStoreDown: the store does not answer, and has not done so for `outage_s`.
        """
        if self._ways.is_open:
            return before
        match before.kind:
            case PrincipalKind.ANONYMOUS:
                return before
            case PrincipalKind.TOKEN:
                return self._by_setting(before, is_known=before.name in self._ways.tokens)
            case PrincipalKind.CERTIFICATE:
                return self._by_setting(before, is_known=self._ways.has_certificates)
            case PrincipalKind.OIDC:
                return before if self._ways.has_issuers else None
            case PrincipalKind.KEY:
                return self._by_keys(before)
            case _:
                assert_never(before.kind)

    def _by_setting(self, before: Principal, *, is_known: bool) -> Principal | None:
        roles = self._ways.roles.get(before.name, frozenset())
        return replace(before, roles=roles) if is_known else None

    def _by_keys(self, before: Principal) -> Principal | None:
        if self._keys is None:
            return None
        now = self._clock.now()
        valid = [
            key
            for key in self._of(before.name, self._keys)
            if (key.expires_at is None or key.expires_at > now) and before.key_id in (None, key.key_id)
        ]
        if not valid:
            return None
        return replace(before, roles=before.roles & frozenset().union(*(key.roles for key in valid)))

    def _of(self, name: str, keys: PrincipalKeys) -> tuple[ApiKey, ...]:
        known, now_ms = self._known.get(name), self._clock.elapsed_ms()
        if known is not None and now_ms - known[0] < self._times.fresh_s * 1000:
            return known[1]
        try:
            found = tuple(keys.of_principal(name))
        except MetricsStoreDown:
            if known is not None and now_ms - known[0] < self._times.outage_s * 1000:
                return known[1]
            raise
        self._known.put(name, (now_ms, found), 500 * (1 + len(found)))
        return found
