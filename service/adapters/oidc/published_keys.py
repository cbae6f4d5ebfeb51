"""Fetches the keys that an issuer publishes, and keeps those that can verify tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jwt
import structlog
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from service.adapters.oidc.bounded_documents import check_address, fetch_document
from service.adapters.oidc.discovery import discovered, tls_of
from service.adapters.oidc.trusted_issuer import TrustedIssuer
from service.errors.credential_errors import AuthenticationDown
from service.model.authentication.access_tokens import SigningKey

MAX_KEYS = 100
LEAST_RSA_BITS = 2048
_OF_CURVES = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "secp256k1": "ES256K"}
_OF_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_log = structlog.get_logger(__name__)


def published_keys(issuer: TrustedIssuer, timeout_s: float) -> Mapping[str, SigningKey]:
    """Returns the issuer's public keys for signatures, by their ids. There may be none: all were withdrawn.

    Raises:
        AuthenticationDown: the issuer does not answer, or its answer is not a set of keys.
    """
    tls = tls_of(issuer)
    url = issuer.keys_url or _keys_url(discovered(issuer, timeout_s))
    listed = fetch_document(url, timeout_s, tls).get("keys")
    if not isinstance(listed, list):
        raise AuthenticationDown("The issuer's answer is not a set of keys.")
    found = {key.key_id: key for key in _readable(listed, issuer)}
    if not found:
        _log.warning("issuer_without_keys", issuer=issuer.name)
    return found


def _keys_url(document: Mapping[str, Any]) -> str:
    url = document.get("jwks_uri")
    if not isinstance(url, str):
        raise AuthenticationDown("The document of the issuer does not say where its keys are.")
    check_address(url)
    return url


def _readable(listed: list[Any], issuer: TrustedIssuer) -> Iterator[SigningKey]:
    for number, published in enumerate(listed[:MAX_KEYS]):
        try:
            key = _signing_key(published, f"#{number}", issuer)
        except (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, KeyError) as error:
            _log.warning("signing_key_not_readable", issuer=issuer.name, error=type(error).__name__)
            continue
        if key is not None:
            yield key


def _signing_key(published: Any, name: str, issuer: TrustedIssuer) -> SigningKey | None:
    """None: it is not for signatures, or not for this issuer's algorithms. `name` replaces a missing id."""
    # An issuer must never publish symmetric or private keys: everyone could sign tokens with them.
    if (
        not isinstance(published, dict)
        or published.get("kty") not in ("RSA", "EC", "OKP")
        or "d" in published
    ):
        return None
    if published.get("use", "sig") != "sig" or "verify" not in published.get("key_ops", ["verify"]):
        return None
    possible = _algorithms(published) & set(issuer.algorithms)
    if "alg" in published:
        possible &= {published["alg"]}
    if not possible:
        return None
    material = jwt.PyJWK(published, algorithm=min(possible)).key
    if isinstance(material, RSAPublicKey) and material.key_size < LEAST_RSA_BITS:
        return None
    return SigningKey(str(published.get("kid") or name), frozenset(possible), material)


def _algorithms(published: Mapping[str, Any]) -> frozenset[str]:
    if published["kty"] == "RSA":
        return _OF_RSA
    if published["kty"] == "OKP":
        return frozenset({"EdDSA"}) if published.get("crv") == "Ed25519" else frozenset()
    return frozenset({_OF_CURVES[published["crv"]]}) if published.get("crv") in _OF_CURVES else frozenset()
