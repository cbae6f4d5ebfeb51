"""The `LoginIssuers` port: the authorization code flow with PKCE, for a client with or without a secret."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import structlog

from service.adapters.oidc.bounded_documents import check_address, post_form
from service.adapters.oidc.discovery import discovered, tls_of
from service.adapters.oidc.jwt_verifier import JwtVerifier
from service.adapters.oidc.trusted_issuer import TrustedIssuer
from service.errors.credential_errors import (
    AuthenticationDown,
    CredentialFault,
    CredentialRefused,
    LoginRefused,
    LoginTokenInvalid,
)
from service.model.authentication.access_tokens import ReadToken, SigningKey
from service.model.authentication.code_flow import IssuedTokens, LoginEndpoints, shown_error
from service.model.authentication.issuer_sessions import LoggedIn

_LATEST_S = 253_402_300_799
"""The end of the year 9999: no date is later."""
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LoginClient:
    """The gateway, as an issuer knows it.

    Args:
        secret: None: a public client, which PKCE alone protects.
        is_by_access_token: the access token names the user, as it does in the API, instead of the ID token.
        parameters: more fields of the address that browsers are led to, such as `prompt`.
    """

    issuer: TrustedIssuer
    client_id: str
    secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ("openid",)
    is_by_access_token: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict)


class CodeFlowIssuers:
    """Asks the issuers of these clients. Any thread may call any method."""

    def __init__(self, clients: Iterable[LoginClient], max_bytes: int, timeout_s: float) -> None:
        self._clients = {client.issuer.name: client for client in clients}
        self._timeout_s = timeout_s
        trusted = [client.issuer for client in self._clients.values()]
        self._id_tokens = JwtVerifier(map(_of_id_tokens, self._clients.values()), max_bytes, timeout_s)
        self._access_tokens = JwtVerifier(trusted, max_bytes, timeout_s)

    def endpoints(self, issuer: str) -> LoginEndpoints:
        """See the port's `endpoints`."""
        document = discovered(self._clients[issuer].issuer, self._timeout_s)
        methods = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return LoginEndpoints(
            authorization=_endpoint(document, "authorization_endpoint"),
            token=_endpoint(document, "token_endpoint"),
            names_itself=document.get("authorization_response_iss_parameter_supported") is True,
            takes_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
        )

    def address(self, issuer: str, endpoints: LoginEndpoints, sent: dict[str, str]) -> str:
        """See the port's `address`."""
        client = self._clients[issuer]
        own = {"response_type": "code", "client_id": client.client_id, "scope": " ".join(client.scopes)}
        parts = urlsplit(endpoints.authorization)
        query = urlencode({**client.parameters, **own, **sent})
        return parts._replace(query=f"{parts.query}&{query}" if parts.query else query, fragment="").geturl()

    def redeem(
        self, issuer: str, endpoints: LoginEndpoints, code: str, verifier: str, redirect_uri: str
    ) -> IssuedTokens:
        """See the port's `redeem`."""
        client = self._clients[issuer]
        form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
        form["redirect_uri"] = redirect_uri
        basic = None
        if client.secret is not None and endpoints.takes_basic:
            # RFC 6749 has both as they are in a form (section 2.3.1).
            basic = (quote_plus(client.client_id), quote_plus(client.secret))
        else:
            form["client_id"] = client.client_id
            if client.secret is not None:
                form["client_secret"] = client.secret
        tls = tls_of(client.issuer)
        return _issued(*post_form(endpoints.token, form, self._timeout_s, tls, basic))

    def read(self, issuer: str, tokens: IssuedTokens) -> tuple[ReadToken, ...]:
        """See the port's `read`."""
        try:
            found = [self._id_tokens.read(tokens.id_token)]
            if self._clients[issuer].is_by_access_token:
                found.append(self._access_tokens.read(tokens.access_token))
        except CredentialRefused as error:
            raise LoginTokenInvalid(reason=error.reason) from None
        if any(token.issuer != issuer for token in found):
            raise LoginTokenInvalid(reason=CredentialFault.ISSUER)
        return tuple(found)

    def verify(
        self, issuer: str, tokens: tuple[ReadToken, ...], keys: tuple[SigningKey, ...], nonce: str
    ) -> LoggedIn:
        """See the port's `verify`."""
        client = self._clients[issuer]
        try:
            about_login = self._id_tokens.verified_claims(tokens[0], keys[0])
            _check_is_for(about_login, client.client_id, nonce)
            naming, verifier = about_login, self._id_tokens
            if client.is_by_access_token:
                verifier = self._access_tokens
                naming = verifier.verified_claims(tokens[1], keys[1])
                if naming.get("sub") != about_login["sub"]:
                    raise LoginTokenInvalid(reason=CredentialFault.PRINCIPAL)
            principal = verifier.principal_in(naming, issuer)
        except CredentialRefused as error:
            raise LoginTokenInvalid(reason=error.reason) from None
        return LoggedIn(
            issuer,
            client.issuer.url,
            about_login["sub"],
            principal.name,
            principal.roles,
            _until([about_login, naming]),
        )


def _of_id_tokens(client: LoginClient) -> TrustedIssuer:
    # If the access token names the user, it is the token that needs the required claims.
    required = {} if client.is_by_access_token else client.issuer.required_claims
    return replace(client.issuer, audiences=(client.client_id,), required_claims=required)


def _endpoint(document: Mapping[str, Any], name: str) -> str:
    url = document.get(name)
    if not isinstance(url, str):
        raise AuthenticationDown(f"The document of the issuer has no {name}.")
    check_address(url)
    return url


def _issued(status: int, answer: Mapping[str, Any] | None) -> IssuedTokens:
    if status >= 500 or status == 429 or (answer is None and status < 400):
        raise AuthenticationDown(f"The issuer answered {status} where it should give tokens.")
    if status >= 400 or answer is None:
        error = None if answer is None else answer.get("error")
        _log.warning("code_not_accepted", status=status, reason=shown_error(error))
        if error == "invalid_client":
            raise AuthenticationDown("The issuer does not accept this gateway's client_id and its secret.")
        raise LoginRefused(reason=CredentialFault.WRONG)
    id_token, access_token = answer.get("id_token"), answer.get("access_token")
    if status != 200 or not isinstance(id_token, str):
        raise AuthenticationDown("The issuer gave no ID token. The scopes have to contain openid.")
    return IssuedTokens(id_token, access_token if isinstance(access_token, str) else "")


def _check_is_for(claims: Mapping[str, Any], client_id: str, nonce: str) -> None:
    found = str(claims.get("nonce", "")).encode("utf-8", "replace")
    if not hmac.compare_digest(found, nonce.encode()):
        raise LoginTokenInvalid(reason=CredentialFault.NONCE)
    audiences = claims["aud"]
    is_shared = isinstance(audiences, list) and len(audiences) > 1
    # One of several audiences has asked for the token, and `azp` says which.
    if (is_shared or "azp" in claims) and claims.get("azp") != client_id:
        raise LoginTokenInvalid(reason=CredentialFault.AUDIENCE)
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise LoginTokenInvalid(reason=CredentialFault.PRINCIPAL)


def _until(tokens: Sequence[Mapping[str, Any]]) -> datetime:
    return datetime.fromtimestamp(min(_LATEST_S, *(int(token["exp"]) for token in tokens)), UTC)
