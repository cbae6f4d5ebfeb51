"""The `TokenVerifier` port over PyJWT."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jwt
import orjson
from jwt.utils import base64url_decode

from service.adapters.oidc.published_keys import published_keys
from service.adapters.oidc.trusted_issuer import TrustedIssuer
from service.errors.credential_errors import AccessTokenExpired, AccessTokenInvalid, CredentialFault
from service.model.authentication.access_tokens import ReadToken, SigningKey
from service.model.authentication.principals import Principal, PrincipalKind, is_principal_name

MAX_ROLES = 200
MAX_ROLE_CHARACTERS = 255
_MAX_KEY_ID_CHARACTERS = 255
_ALWAYS_REQUIRED = ["exp", "iss", "aud"]


class JwtVerifier:
    """Verifies signed tokens (compact JWS) of the operator's issuers. Any thread may call any method."""

    def __init__(self, issuers: Iterable[TrustedIssuer], max_bytes: int, fetch_timeout_s: float) -> None:
        self._issuers = {issuer.name: issuer for issuer in issuers}
        self._by_url = {issuer.url: issuer for issuer in self._issuers.values()}
        self._max_bytes = max_bytes
        self._fetch_timeout_s = fetch_timeout_s

    def read(self, token: str) -> ReadToken:
        """See the port's `read`. A token that is too large is not parsed."""
        if len(token) > self._max_bytes:
            raise AccessTokenInvalid(
                "The access token is larger than this gateway accepts.", CredentialFault.TOO_LARGE
            )
        parts = token.split(".")
        if len(parts) != 3 or not all(parts):
            raise AccessTokenInvalid
        header, claims = _object(parts[0]), _object(parts[1])
        url = claims.get("iss")
        issuer = self._by_url.get(url) if isinstance(url, str) else None
        if issuer is None:
            raise AccessTokenInvalid(
                "The access token is of an issuer that is not known here.", CredentialFault.ISSUER
            )
        algorithm, key_id = header.get("alg"), header.get("kid", "")
        if algorithm not in issuer.algorithms:
            raise AccessTokenInvalid(
                "The access token is signed by an algorithm that is not accepted here.",
                CredentialFault.ALGORITHM,
            )
        # These extensions change what a signature covers.
        if "crit" in header or "b64" in header:
            raise AccessTokenInvalid(
                "The access token needs an extension that is not known here.", CredentialFault.EXTENSION
            )
        if not isinstance(key_id, str) or len(key_id) > _MAX_KEY_ID_CHARACTERS:
            raise AccessTokenInvalid
        return ReadToken(token, issuer.name, key_id, algorithm)

    def verify(self, token: ReadToken, key: SigningKey) -> Principal:
        """See the port's `verify`."""
        return self.principal_in(self.verified_claims(token, key), token.issuer)

    def verified_claims(self, token: ReadToken, key: SigningKey) -> Mapping[str, Any]:
        """Verifies a token, and returns what it says.

        Raises:
            AccessTokenInvalid: the signature or a claim is wrong.
            AccessTokenExpired: the token is no longer valid.
        """
        issuer = self._issuers[token.issuer]
        if token.algorithm not in key.algorithms:
            raise AccessTokenInvalid(
                "The access token is signed by an algorithm that is not its key's.", CredentialFault.ALGORITHM
            )
        claims = _verified(token, key, issuer)
        _check_required(claims, issuer)
        return claims

    def principal_in(self, claims: Mapping[str, Any], name_of_issuer: str) -> Principal:
        """Returns the principal whom verified claims name.

        Raises:
            AccessTokenInvalid: they name none, or too many roles.
        """
        issuer = self._issuers[name_of_issuer]
        name = claims.get(issuer.principal_claim)
        full_name = f"{issuer.principal_prefix}{name}"
        if not isinstance(name, str) or not name or not is_principal_name(full_name):
            raise AccessTokenInvalid("The access token names no principal.", CredentialFault.PRINCIPAL)
        origin = {"iss": issuer.url, "sub": str(claims.get("sub", ""))}
        return Principal(full_name, PrincipalKind.OIDC, _roles(claims, issuer), claims=origin)

    def fetch(self, issuer: str) -> Mapping[str, SigningKey]:
        """See the port's `fetch`."""
        return published_keys(self._issuers[issuer], self._fetch_timeout_s)


def _object(part: str) -> Mapping[str, Any]:
    try:
        # orjson rejects deeply nested texts, and words that are not JSON, such as NaN.
        found = orjson.loads(base64url_decode(part))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise AccessTokenInvalid
    return found


def _verified(token: ReadToken, key: SigningKey, issuer: TrustedIssuer) -> Mapping[str, Any]:
    try:
        claims: Mapping[str, Any] = jwt.decode(
            token.text,
            key.material,  # type: ignore[arg-type]
            algorithms=[token.algorithm],
            audience=list(issuer.audiences),
            issuer=issuer.url,
            leeway=issuer.leeway_s,
            options={"require": _ALWAYS_REQUIRED},
        )
    except jwt.ExpiredSignatureError:
        raise AccessTokenExpired from None
    except jwt.InvalidAudienceError:
        raise AccessTokenInvalid(
            "The access token is for another audience.", CredentialFault.AUDIENCE
        ) from None
    except jwt.ImmatureSignatureError:
        raise AccessTokenInvalid(
            "The access token is not valid yet.", CredentialFault.NOT_YET_VALID
        ) from None
    except jwt.InvalidSignatureError:
        raise AccessTokenInvalid(
            "The signature of the access token is wrong.", CredentialFault.SIGNATURE
        ) from None
    except jwt.MissingRequiredClaimError:
        raise AccessTokenInvalid(
            "The access token lacks a claim that is required.", CredentialFault.CLAIM
        ) from None
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
        raise AccessTokenInvalid from None
    return claims


def _check_required(claims: Mapping[str, Any], issuer: TrustedIssuer) -> None:
    for name, wanted in issuer.required_claims.items():
        found = claims.get(name)
        # In Python 1 == True, but a claim 1 is not the claim true.
        if found is None or (wanted is not None and (found != wanted or type(found) is not type(wanted))):
            raise AccessTokenInvalid(
                "The access token lacks a claim that is required.", CredentialFault.CLAIM
            )


def _roles(claims: Mapping[str, Any], issuer: TrustedIssuer) -> frozenset[str]:
    """Returns the roles that a claim lists, or the words of its text, as in `scope`."""
    if not issuer.roles_claim:
        return frozenset()
    # A claim's name may have dots itself: it can be a URL.
    found: Any = claims.get(issuer.roles_claim)
    if found is None and "." in issuer.roles_claim:
        found = claims
        for name in issuer.roles_claim.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    roles = found.split() if isinstance(found, str) else found if isinstance(found, list) else []
    if len(roles) > MAX_ROLES:
        raise AccessTokenInvalid(
            "The access token has more roles than this gateway accepts.", CredentialFault.ROLES
        )
    texts = [role for role in roles if isinstance(role, str) and 0 < len(role) <= MAX_ROLE_CHARACTERS]
    return frozenset(texts)
