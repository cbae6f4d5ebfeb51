"""Finds the principal of a request: tries each way to authenticate in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from api.bootstrap.settings.serving.tls import CertificateName
from api.http.authentication.attempts import Attempts
from api.http.authentication.bearer import bearer_of
from api.http.authentication.certificate_names import principal_of
from api.http.authentication.issuers import Issuers
from api.http.authentication.key_lookups import KeyLookups
from api.http.authentication.static_tokens import StaticTokens
from api.http.middleware.authentication_metrics import NO_KIND
from api.http.problems.http_errors import Unauthenticated
from service.authentication.check_key import check_key
from service.authentication.known_keys import Stored
from service.errors.credential_errors import (
    ApiKeyExpired,
    ApiKeyInvalid,
    CertificateInvalid,
    CredentialFault,
    KeySessionEnded,
)
from service.model.authentication.api_keys import PREFIX, ApiKey, sent_key
from service.model.authentication.issuer_sessions import (
    IssuerSession,
    LoggedIn,
    is_of_issuer,
    sent_session,
)
from service.model.authentication.principals import NOBODY, Principal, PrincipalKind
from service.model.operations.caller_classes import CallerClasses
from service.ports.clock import Clock

_WITHOUT_ROLES = frozenset({PrincipalKind.TOKEN, PrincipalKind.CERTIFICATE})
"""Their credentials name no roles, so the operator's setting does."""


@dataclass(frozen=True, slots=True)
class CertificatePolicy:
    """How the operator uses client certificates."""

    is_required: bool = False
    name: CertificateName = CertificateName.CN
    prefix: str = "certificate:"


@dataclass(frozen=True, slots=True)
class Sent:
    """The credentials of a request, and the address that it came from."""

    peer: str
    authorization: Sequence[str] = field(repr=False)
    certificate: Mapping[str, Any] | None = None
    session: str | None = field(default=None, repr=False)
    """The text of the session in a cookie; used if there is no `authorization`."""
    is_login: bool = False
    """Whether this is a browser that comes back from an issuer, without a credential of its own."""

    @property
    def kind(self) -> str:
        """The kind that the credential looks like, for the log and the metrics."""
        if self.is_login:
            return PrincipalKind.OIDC.value
        if self.session is not None and self.is_by_session:
            return (PrincipalKind.OIDC if is_of_issuer(self.session) else PrincipalKind.KEY).value
        if not self.authorization:
            return NO_KIND if self.certificate is None else PrincipalKind.CERTIFICATE.value
        _, _, text = self.authorization[0].partition(" ")
        return kind_of(text.strip()).value

    @property
    def is_by_session(self) -> bool:
        """Whether the session says who calls."""
        return self.session is not None and not self.authorization

    @property
    def key_id(self) -> str | None:
        """The id of the API key that was sent, without its secret."""
        _, _, text = self.authorization[0].partition(" ") if self.authorization else ("", "", "")
        key = sent_key(text.strip())
        return None if key is None else key.key_id


def kind_of(text: str) -> PrincipalKind:
    """Returns the kind that a credential looks like.

    >>> [kind_of(text).value for text in ("sluice_1", "eyJh.eyJi.c", "my.secret", "word")]
    ['key', 'oidc', 'token', 'token']
    """
    if text.startswith(PREFIX):
        return PrincipalKind.KEY
    return PrincipalKind.OIDC if text.startswith("eyJ") and text.count(".") == 2 else PrincipalKind.TOKEN


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Finds principals in the ways that the operator has enabled.

    A part that is None or empty is a way that is not enabled. `is_open` means that none is enabled, so that
    every caller is anonymous. `roles` has the roles of tokens and certificates, which bring none, by the
    principal's name. `login_urls` has the `iss` of each issuer that logs users in. `note_use` gets the id of
    each API key that is used, and the time.
    """

    is_open: bool
    tokens: StaticTokens
    attempts: Attempts
    clock: Clock
    classes: CallerClasses
    certificates: CertificatePolicy | None = None
    keys: KeyLookups[ApiKey] | None = None
    sessions: KeyLookups[ApiKey] | None = None
    issuer_sessions: KeyLookups[IssuerSession] | None = None
    login_urls: Mapping[str, str] = field(default_factory=dict)
    issuers: Issuers | None = None
    note_use: Callable[[str, datetime], None] = lambda _key_id, _at: None
    roles: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def takes_sessions(self) -> bool:
        """Whether sessions of any kind count."""
        return self.sessions is not None or self.issuer_sessions is not None

    async def principal(self, sent: Sent) -> Principal:
        """Returns the principal who sent a request.

        Raises:
            CredentialRefused: there are no credentials, or they are not accepted.
            PartDown: the store of keys, or the issuer, does not answer.
        """
        if self.is_open:
            return NOBODY
        found = await self._recognized(sent)
        roles = self.roles.get(found.name, frozenset()) if found.kind in _WITHOUT_ROLES else found.roles
        return replace(found, caller_class=self.classes.of(found.name), roles=roles)

    def forget_key(self, key_id: str) -> None:
        """Notes that an API key was changed here: its next use asks the store, also that of its sessions."""
        for lookups in (self.keys, self.sessions):
            if lookups is not None:
                lookups.forget(key_id)

    def forget_session(self, session_id: str) -> None:
        """Notes that a session was ended here."""
        for lookups in (self.sessions, self.issuer_sessions):
            if lookups is not None:
                lookups.forget(session_id)

    async def _recognized(self, sent: Sent) -> Principal:
        policy = self.certificates
        if policy is not None and policy.is_required and sent.certificate is None:
            raise CertificateInvalid("This gateway asks for a client certificate.", CredentialFault.MISSING)
        text = bearer_of(sent.authorization)
        if text is not None:
            return await self._by_text(text, sent.peer)
        if sent.session is not None:
            if is_of_issuer(sent.session) and self.issuer_sessions is not None:
                return await self._by_issuer_session(sent.session, self.issuer_sessions)
            if not is_of_issuer(sent.session) and self.sessions is not None:
                return await self._by_session(sent.session, self.sessions)
        if policy is not None and sent.certificate is not None:
            return principal_of(sent.certificate, policy.name, policy.prefix, self.clock.now())
        raise Unauthenticated(reason=CredentialFault.MISSING)

    async def _by_text(self, text: str, peer: str) -> Principal:
        if self.tokens and self.attempts.may_guess(peer, text):
            caller = self.tokens.caller(text)
            if caller is not None:
                self.attempts.prove(text)
                return Principal(caller, PrincipalKind.TOKEN)
        kind = kind_of(text)
        if kind is PrincipalKind.KEY and self.keys is not None:
            return await self._by_key(text, self.keys)
        if kind is PrincipalKind.OIDC and self.issuers is not None:
            return await self.issuers.principal(text)
        raise Unauthenticated(reason=CredentialFault.UNKNOWN)

    async def _by_key(self, text: str, keys: KeyLookups[ApiKey]) -> Principal:
        sent = sent_key(text)
        if sent is None:
            raise Unauthenticated(reason=CredentialFault.MALFORMED)
        known = await keys.find(sent.key_id)
        now = self.clock.now()
        key = check_key(sent, known.key, now)
        self.note_use(key.key_id, now)
        return Principal(key.name, PrincipalKind.KEY, key.roles, key_id=key.key_id)

    async def _by_session(self, text: str, sessions: KeyLookups[ApiKey]) -> Principal:
        now = self.clock.now()
        key = await _checked(text, sessions, now)
        self.note_use(key.key_id, now)
        return Principal(key.name, PrincipalKind.KEY, key.roles, key_id=key.key_id)

    async def _by_issuer_session(self, text: str, sessions: KeyLookups[IssuerSession]) -> Principal:
        user = (await _checked(text, sessions, self.clock.now())).user
        # The operator may have removed the issuer since, or given its name to another one.
        if self.login_urls.get(user.issuer) != user.issuer_url:
            raise KeySessionEnded(reason=CredentialFault.ISSUER)
        return principal_of_issuer(user)


def principal_of_issuer(user: LoggedIn) -> Principal:
    """Returns the principal that a user is: the same as by an access token."""
    origin = {"iss": user.issuer_url, "sub": user.subject}
    return Principal(user.name, PrincipalKind.OIDC, user.roles, claims=origin)


async def _checked(text: str, sessions: KeyLookups[Stored], now: datetime) -> Stored:
    sent = sent_session(text)
    if sent is None:
        raise KeySessionEnded(reason=CredentialFault.MALFORMED)
    known = await sessions.find(sent.key_id)
    try:
        return check_key(sent, known.key, now)
    except (ApiKeyInvalid, ApiKeyExpired) as error:
        raise KeySessionEnded(reason=error.reason) from None
