"""Builds the authenticator that the settings describe."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from api.bootstrap.settings import Settings
from api.bootstrap.settings.serving.tls import ClientCertificates
from api.http.authentication.attempts import Attempts
from api.http.authentication.authenticator import Authenticator, CertificatePolicy
from api.http.authentication.console_logins import ConsoleLogins, LoginRules
from api.http.authentication.issuers import Issuers
from api.http.authentication.key_lookups import KeyLookups
from api.http.authentication.static_tokens import StaticTokens
from api.http.gateway_access import GatewayAccess
from service.authentication.failure_counts import FailureCounts
from service.authentication.known_keys import KeyTimes, KnownKeys
from service.authentication.signing_keys import SigningKeyTimes
from service.errors.gateway_error import PartDown
from service.model.authentication.api_keys import ApiKey
from service.model.authentication.issuer_sessions import IssuerSession
from service.model.operations.caller_classes import CallerClasses
from service.ports.clock import Clock
from service.ports.stores.api_key_store import TokenVerifier
from service.ports.stores.login_issuers import LoginIssuers


def authenticator_of(
    settings: Settings, access: GatewayAccess, clock: Clock, verifier: TokenVerifier | None
) -> Authenticator:
    """Returns the authenticator for these settings. It looks API keys up once the gateway has started."""

    def counts() -> FailureCounts:
        return FailureCounts(clock, settings.auth_failures_per_minute)

    def note_use(key_id: str, at: datetime) -> None:
        # While the gateway closes, known keys still work.
        with suppress(PartDown):
            access.gateway.api_keys.uses.note(key_id, at)

    return Authenticator(
        is_open=not settings.has_authentication,
        tokens=StaticTokens(settings.api_tokens),
        attempts=Attempts(counts(), counts()),
        clock=clock,
        classes=CallerClasses(settings.caller_classes),
        certificates=_certificates(settings),
        keys=_keys(settings, access, clock) if settings.api_keys else None,
        sessions=_sessions(settings, access, clock) if settings.api_keys and settings.console else None,
        issuer_sessions=_issuer_sessions(settings, access, clock) if has_logins(settings) else None,
        login_urls=login_urls(settings),
        issuers=_issuers(settings, clock, verifier),
        note_use=note_use,
        roles={name: frozenset(roles) for name, roles in settings.principal_roles.items()},
    )


def _certificates(settings: Settings) -> CertificatePolicy | None:
    if settings.tls_client_certificates is ClientCertificates.NONE:
        return None
    return CertificatePolicy(
        is_required=settings.tls_client_certificates is ClientCertificates.REQUIRED,
        name=settings.tls_principal,
        prefix=settings.tls_principal_prefix,
    )


def _keys(settings: Settings, access: GatewayAccess, clock: Clock) -> KeyLookups[ApiKey]:
    return KeyLookups(KnownKeys(clock, _key_times(settings)), lambda: access.gateway.api_keys.store.find)


def _sessions(settings: Settings, access: GatewayAccess, clock: Clock) -> KeyLookups[ApiKey]:
    known: KnownKeys[ApiKey] = KnownKeys(clock, _key_times(settings))
    return KeyLookups(known, lambda: access.gateway.api_keys.sessions.store.find)


def _issuer_sessions(settings: Settings, access: GatewayAccess, clock: Clock) -> KeyLookups[IssuerSession]:
    known: KnownKeys[IssuerSession] = KnownKeys(clock, _key_times(settings))
    return KeyLookups(known, lambda: access.gateway.issuer_sessions.store.find)


def _key_times(settings: Settings) -> KeyTimes:
    return KeyTimes(settings.api_key_cache_ttl_s, settings.api_key_outage_s)


def has_logins(settings: Settings) -> bool:
    """Whether users of issuers may log in to the console."""
    return settings.console and bool(settings.console_logins)


def login_urls(settings: Settings) -> Mapping[str, str]:
    """Returns the `iss` of each issuer that logs users in, by the operator's name for it."""
    return {name: settings.oidc_issuers[name].issuer for name in settings.console_logins}


def console_logins_of(
    settings: Settings, keys: Issuers | None, clock: Clock, issuers: LoginIssuers | None
) -> ConsoleLogins | None:
    """Returns the logins by issuers that the settings describe. None: there are none."""
    if not has_logins(settings) or settings.console_url is None or keys is None or issuers is None:
        return None
    rules = LoginRules(
        urls=login_urls(settings),
        console_url=settings.console_url,
        timeout_s=settings.console_login_timeout_s,
        fetch_timeout_s=settings.oidc_fetch_timeout_s,
        endpoints_age_s=settings.oidc_keys_max_age_s,
        cooldown_s=settings.oidc_keys_cooldown_s,
        failures_per_minute=settings.console_login_failures_per_minute,
    )
    return ConsoleLogins(rules, issuers, keys, clock)


def _issuers(settings: Settings, clock: Clock, verifier: TokenVerifier | None) -> Issuers | None:
    if verifier is None:
        return None
    times = SigningKeyTimes(
        settings.oidc_keys_max_age_s, settings.oidc_keys_cooldown_s, settings.oidc_outage_s
    )
    # A fetch asks for two documents. Each read has a bound, but a server that sends byte by byte has many.
    max_wait_s = 2 * settings.oidc_fetch_timeout_s
    return Issuers(settings.oidc_issuers, verifier, clock, times, max_wait_s)
