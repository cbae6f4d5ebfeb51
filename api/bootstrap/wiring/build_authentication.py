"""Builds the parts of authentication from the settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from api.bootstrap.settings.callers.console_logins import ConsoleLogin
from api.bootstrap.settings.callers.oidc_issuers import OidcIssuer
from api.bootstrap.settings.serving.tls import ClientCertificates
from service.adapters.api_keys.postgres_api_keys import PostgresApiKeys
from service.adapters.api_keys.postgres_issuer_sessions import PostgresIssuerSessions
from service.adapters.api_keys.postgres_key_sessions import PostgresKeySessions
from service.adapters.audit.postgres_audit_log import PostgresAuditLog
from service.adapters.clock import SystemClock
from service.adapters.oidc.code_flow_issuers import CodeFlowIssuers, LoginClient
from service.adapters.oidc.jwt_verifier import JwtVerifier
from service.adapters.oidc.trusted_issuer import TrustedIssuer
from service.authentication.current_principals import CurrentPrincipals, KnownWays
from service.authentication.issuer_logins import IssuerSessions
from service.authentication.key_sessions import KeySessions
from service.authentication.known_keys import KeyTimes
from service.authentication.last_uses import LastUses
from service.authentication.manage_keys import ApiKeys
from service.ports.clock import Clock
from service.ports.stores.api_key_store import TokenVerifier
from service.ports.stores.audit_log import AuditLog
from service.ports.stores.login_issuers import LoginIssuers


def build_api_keys(settings: Settings, components: Components) -> ApiKeys:
    """Returns the keys in the metrics store. Their last uses are written until the components are closed."""
    store = PostgresApiKeys(components.migrated_store_url)
    components.stack.callback(store.close)
    uses = LastUses(store.note_uses)
    components.stack.callback(uses.close)
    uses.start()
    sessions = PostgresKeySessions(components.migrated_store_url)
    components.stack.callback(sessions.close)
    return ApiKeys(store, SystemClock(), uses, _key_sessions(settings, sessions))


def _key_sessions(settings: Settings, store: PostgresKeySessions) -> KeySessions:
    return KeySessions(store, SystemClock(), timedelta(seconds=settings.console_session_s))


def build_issuer_sessions(settings: Settings, components: Components) -> IssuerSessions | None:
    """Returns the sessions of users of issuers. None: no issuer logs users in."""
    if not (settings.console and settings.console_logins):
        return None
    store = PostgresIssuerSessions(components.migrated_store_url)
    components.stack.callback(store.close)
    return IssuerSessions(store, SystemClock(), timedelta(seconds=settings.console_session_s))


def current_principals(settings: Settings, api_keys: ApiKeys | None, clock: Clock) -> CurrentPrincipals:
    """Returns what finds the creators of streams again."""
    ways = KnownWays(
        is_open=not settings.has_authentication,
        tokens=frozenset(settings.api_tokens),
        has_certificates=settings.tls_client_certificates is not ClientCertificates.NONE,
        has_issuers=bool(settings.oidc_issuers),
        roles={name: frozenset(roles) for name, roles in settings.principal_roles.items()},
    )
    times = KeyTimes(settings.api_key_cache_ttl_s, settings.api_key_outage_s)
    return CurrentPrincipals(ways, None if api_keys is None else api_keys.store, clock, times)


@contextmanager
def opened_api_keys(settings: Settings) -> Iterator[tuple[ApiKeys, AuditLog]]:
    """Opens the same for a command, which uses no key itself, and the audit log beside it.

    Raises:
        CannotStart: this version cannot use the metrics store.
    """
    with ExitStack() as stack:
        url = Components(settings=settings, stack=stack).migrated_store_url
        store, log, sessions = PostgresApiKeys(url), PostgresAuditLog(url), PostgresKeySessions(url)
        stack.callback(store.close)
        stack.callback(sessions.close)
        stack.callback(log.close)
        keys = ApiKeys(store, SystemClock(), LastUses(store.note_uses), _key_sessions(settings, sessions))
        yield keys, log


def build_verifier(settings: Settings) -> TokenVerifier | None:
    """Returns the verifier for the operator's issuers. None: there are no issuers."""
    if not settings.oidc_issuers:
        return None
    issuers = [trusted_issuer(name, issuer) for name, issuer in settings.oidc_issuers.items()]
    return JwtVerifier(issuers, settings.oidc_max_token_bytes, settings.oidc_fetch_timeout_s)


def build_login_issuers(settings: Settings) -> LoginIssuers | None:
    """Returns the issuers that log users of the console in. None: there are none."""
    if not settings.console_logins:
        return None
    clients = (_login_client(settings, name, login) for name, login in settings.console_logins.items())
    return CodeFlowIssuers(clients, settings.oidc_max_token_bytes, settings.oidc_fetch_timeout_s)


def _login_client(settings: Settings, name: str, login: ConsoleLogin) -> LoginClient:
    secret = settings.console_login_secrets.get(name)
    return LoginClient(
        issuer=trusted_issuer(name, settings.oidc_issuers[name]),
        client_id=login.client_id,
        secret=None if secret is None else secret.get_secret_value(),
        scopes=login.scopes,
        is_by_access_token=login.named_by == "access_token",
        parameters=login.parameters,
    )


def trusted_issuer(name: str, issuer: OidcIssuer) -> TrustedIssuer:
    """Returns the issuer as its settings describe it."""
    return TrustedIssuer(
        name=name,
        url=issuer.issuer,
        audiences=issuer.audiences,
        algorithms=issuer.algorithms,
        required_claims=issuer.required_claims,
        principal_claim=issuer.principal_claim,
        principal_prefix=f"{name}:" if issuer.principal_prefix is None else issuer.principal_prefix,
        roles_claim=issuer.roles_claim,
        leeway_s=issuer.leeway_s,
        keys_url=issuer.keys_url,
        ca_file=issuer.ca_file,
    )
