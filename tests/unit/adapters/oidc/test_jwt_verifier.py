"""Which access tokens are taken, with an issuer that is a real server with real keys."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from service.adapters.oidc.jwt_verifier import JwtVerifier
from service.adapters.oidc.trusted_issuer import TrustedIssuer
from service.errors.credential_errors import (
    AccessTokenExpired,
    AccessTokenInvalid,
    AuthenticationDown,
    CredentialFault,
)
from service.model.authentication.principals import Principal, PrincipalKind
from tests.fakes.oidc_issuer import AUDIENCE, DISCOVERY, KEYS, OidcIssuer, oidc_issuer

MAX_BYTES = 4096


@pytest.fixture(scope="module")
def issuer() -> Iterator[OidcIssuer]:
    with oidc_issuer() as running:
        running.add_key("curve", is_elliptic=True)
        yield running


def trusted(issuer: OidcIssuer) -> TrustedIssuer:
    return TrustedIssuer("corp", issuer.url, (AUDIENCE, "other"), principal_prefix="corp:", leeway_s=30)


def verified(token: str, issuer: TrustedIssuer) -> Principal:
    verifier = JwtVerifier([issuer], MAX_BYTES, 5)
    read = verifier.read(token)
    return verifier.verify(read, verifier.fetch("corp")[read.key_id])


@pytest.mark.parametrize("key_id", ["one", "curve"])
def test_a_good_token_names_its_principal(issuer: OidcIssuer, key_id: str) -> None:
    found = verified(issuer.token(key_id), trusted(issuer))
    assert found == Principal("corp:ada", PrincipalKind.OIDC, claims={"iss": issuer.url, "sub": "ada"})


def test_a_clock_may_be_off_within_the_leeway(issuer: OidcIssuer) -> None:
    now = int(time.time())
    assert verified(issuer.token(exp=now - 15), trusted(issuer)).name == "corp:ada"
    assert verified(issuer.token(nbf=now + 15), trusted(issuer)).name == "corp:ada"
    with pytest.raises(AccessTokenExpired):
        verified(issuer.token(exp=now - 60), trusted(issuer))


@pytest.mark.parametrize(
    ("claims", "fault"),
    [
        ({"aud": "somebody else"}, CredentialFault.AUDIENCE),
        ({"aud": None}, CredentialFault.CLAIM),
        ({"aud": []}, CredentialFault.CLAIM),
        ({"aud": [AUDIENCE, 7]}, CredentialFault.AUDIENCE),
        ({"exp": None}, CredentialFault.CLAIM),
        ({"exp": "soon"}, CredentialFault.MALFORMED),
        ({"nbf": 4_000_000_000, "exp": 4_000_000_100}, CredentialFault.NOT_YET_VALID),
        ({"iat": 4_000_000_000, "exp": 4_000_000_100}, CredentialFault.NOT_YET_VALID),
        ({"iss": "https://elsewhere.example"}, CredentialFault.ISSUER),
        ({"iss": None}, CredentialFault.ISSUER),
        ({"sub": None}, CredentialFault.PRINCIPAL),
        ({"sub": ""}, CredentialFault.PRINCIPAL),
        ({"sub": "a\nb"}, CredentialFault.PRINCIPAL),
        ({"sub": "a" * 300}, CredentialFault.PRINCIPAL),
    ],
)
def test_a_token_with_a_wrong_claim_is_refused(
    issuer: OidcIssuer, claims: dict[str, Any], fault: CredentialFault
) -> None:
    with pytest.raises(AccessTokenInvalid) as caught:
        verified(issuer.token(**claims), trusted(issuer))
    assert caught.value.reason is fault


def encoded(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def forged(issuer: OidcIssuer, header: dict[str, Any], key: bytes = b"") -> str:
    signed = f"{encoded(header)}.{encoded(issuer.claims())}"
    signature = base64.urlsafe_b64encode(hmac.digest(key, signed.encode(), hashlib.sha256)).rstrip(b"=")
    return f"{signed}.{signature.decode()}"


def test_no_algorithm_and_a_public_key_as_a_secret_are_refused(issuer: OidcIssuer) -> None:
    public = issuer.keys["one"].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    der = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    tokens = [
        forged(issuer, {"alg": alg, "kid": "one"}, key)
        for alg in ("none", "None", "NONE", "nOnE", "HS256", "HS384", "hs256", "", None, 7, ["RS256"])
        for key in (pem, der, b"")
    ]
    for token in tokens:
        with pytest.raises(AccessTokenInvalid) as caught:
            verified(token, trusted(issuer))
        assert caught.value.reason is CredentialFault.ALGORITHM
    # An algorithm that is accepted, of another kind of key.
    with pytest.raises(AccessTokenInvalid):
        verified(forged(issuer, {"alg": "ES256", "kid": "one"}), trusted(issuer))


def test_an_issuer_cannot_be_made_to_accept_a_symmetric_algorithm(issuer: OidcIssuer) -> None:
    token = jwt.encode(issuer.claims(), "s" * 32, algorithm="HS256", headers={"kid": "one"})
    with pytest.raises(AccessTokenInvalid):
        verified(token, replace(trusted(issuer), algorithms=("RS256", "HS256")))


def test_keys_and_addresses_of_keys_that_a_token_brings_are_not_used(issuer: OidcIssuer) -> None:
    stranger = rsa.generate_private_key(65_537, 2048)
    own: dict[str, Any] = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(stranger.public_key()))
    for more in ({"jwk": own}, {"jku": "http://127.0.0.1:1/keys"}, {"x5u": "http://127.0.0.1:1/"}):
        token = jwt.encode(issuer.claims(), stranger, algorithm="RS256", headers={"kid": "one"} | more)
        before = len(issuer.requests)
        with pytest.raises(AccessTokenInvalid) as caught:
            verified(token, trusted(issuer))
        assert caught.value.reason is CredentialFault.SIGNATURE
        assert set(issuer.requests[before:]) <= {DISCOVERY, KEYS}


@pytest.mark.parametrize("header", [{"crit": ["exp"]}, {"b64": False, "crit": ["b64"]}])
def test_extensions_are_refused(issuer: OidcIssuer, header: dict[str, Any]) -> None:
    token = forged(issuer, {"alg": "RS256", "kid": "one"} | header)
    with pytest.raises(AccessTokenInvalid) as caught:
        verified(token, trusted(issuer))
    assert caught.value.reason is CredentialFault.EXTENSION


def test_a_token_that_is_changed_has_a_wrong_signature(issuer: OidcIssuer) -> None:
    head, _, signature = issuer.token().split(".")
    other = encoded(issuer.claims(sub="root"))
    with pytest.raises(AccessTokenInvalid) as caught:
        verified(f"{head}.{other}.{signature}", trusted(issuer))
    assert caught.value.reason is CredentialFault.SIGNATURE


def test_a_huge_token_is_not_looked_at(issuer: OidcIssuer) -> None:
    with pytest.raises(AccessTokenInvalid) as caught:
        verified(issuer.token(more="x" * MAX_BYTES), trusted(issuer))
    assert caught.value.reason is CredentialFault.TOO_LARGE


@pytest.mark.parametrize(
    "part", ["[" * 1400, '{"a":' * 500, "null", "7", '"iss"', '{"iss": NaN}', "", "{", "\x00"]
)
def test_what_is_no_token_is_refused(issuer: OidcIssuer, part: str) -> None:
    text = base64.urlsafe_b64encode(part.encode()).rstrip(b"=").decode() or "="
    good, _, _ = issuer.token().split(".")
    for token in (f"{text}.{text}.{text}", f"{good}.{text}.{text}", text, f"{good}.{text}", "..", "a.b.c.d"):
        with pytest.raises(AccessTokenInvalid):
            verified(token, trusted(issuer))


def test_claims_that_the_operator_wants_are_required(issuer: OidcIssuer) -> None:
    asks = replace(trusted(issuer), required_claims={"tenant": "shop", "verified": True, "jti": None})
    good: dict[str, Any] = {"tenant": "shop", "verified": True, "jti": "1"}
    assert verified(issuer.token(**good), asks).name == "corp:ada"
    for wrong in ({"tenant": "x"}, {"verified": 1}, {"verified": "true"}, {"jti": None}, {"tenant": None}):
        with pytest.raises(AccessTokenInvalid) as caught:
            verified(issuer.token(**good | wrong), asks)
        assert caught.value.reason is CredentialFault.CLAIM


@pytest.mark.parametrize(
    ("path", "claims", "roles"),
    [
        ("roles", {"roles": ["a", "b", 7, ""]}, {"a", "b"}),
        ("scope", {"scope": "a b"}, {"a", "b"}),
        ("realm_access.roles", {"realm_access": {"roles": ["a"]}}, {"a"}),
        ("https://x.example/roles", {"https://x.example/roles": ["a"]}, {"a"}),
        ("roles", {}, set()),
        ("roles", {"roles": {"a": 1}}, set()),
        ("", {"roles": ["a"], "": ["b"]}, set()),
    ],
)
def test_roles_come_from_a_claim(
    issuer: OidcIssuer, path: str, claims: dict[str, Any], roles: set[str]
) -> None:
    assert verified(issuer.token(**claims), replace(trusted(issuer), roles_claim=path)).roles == roles


def test_a_principal_may_be_another_claim(issuer: OidcIssuer) -> None:
    asks = replace(trusted(issuer), principal_claim="email", principal_prefix="")
    assert verified(issuer.token(email="ada@x.example"), asks).name == "ada@x.example"
    # Nobody becomes the anonymous caller.
    with pytest.raises(AccessTokenInvalid):
        verified(issuer.token(email="anonymous"), asks)


def fetched(issuer: OidcIssuer, asked: TrustedIssuer | None = None) -> set[str]:
    return set(JwtVerifier([asked or trusted(issuer)], MAX_BYTES, 2).fetch("corp"))


def test_only_keys_that_can_verify_are_taken() -> None:
    with oidc_issuer() as issuer:
        issuer.add_key("curve", is_elliptic=True)
        [one, curve] = issuer.published()
        weak: dict[str, Any] = json.loads(
            jwt.algorithms.RSAAlgorithm.to_jwk(rsa.generate_private_key(65_537, 1024).public_key())
        )
        listed = [
            one | {"alg": "RS256"},
            curve,
            one | {"kid": "for encryption", "use": "enc"},
            one | {"kid": "of another algorithm", "alg": "PS256"},
            one | {"kid": "with half of its private key", "d": "AQAB"},
            {"kty": "oct", "k": "c2VjcmV0", "kid": "symmetric"},
            weak | {"kid": "weak"},
            {"kty": "RSA", "kid": "broken", "n": "!", "e": 7},
            {"kty": ["RSA"], "kid": "odd"},
            "no object",
            None,
        ]
        issuer.answers[KEYS] = (200, json.dumps({"keys": listed}).encode(), {})
        assert fetched(issuer) == {"one", "curve"}
        explicit = replace(trusted(issuer), keys_url=issuer.url + KEYS)
        before = len(issuer.requests)
        assert fetched(issuer, explicit) == {"one", "curve"}
        assert issuer.requests[before:] == [KEYS]


def test_an_issuer_may_withdraw_all_its_keys() -> None:
    with oidc_issuer() as issuer:
        issuer.answers[KEYS] = (200, b'{"keys": []}', {})
        assert fetched(issuer) == set()


def test_what_an_issuer_answers_is_bounded_and_from_nowhere_else() -> None:
    with oidc_issuer() as issuer, oidc_issuer() as stranger:
        good = {"issuer": issuer.url, "jwks_uri": issuer.url + KEYS}
        answers: list[tuple[str, int, bytes, dict[str, str]]] = [
            (KEYS, 302, b"", {"Location": stranger.url + KEYS}),
            (DISCOVERY, 301, b"", {"Location": stranger.url + DISCOVERY}),
            (KEYS, 200, b" " * 600_000, {}),
            (KEYS, 200, b"[]", {}),
            (KEYS, 200, b'{"keys": {}}', {}),
            (KEYS, 200, b"not json", {}),
            (KEYS, 500, b"", {}),
            (DISCOVERY, 200, json.dumps(good | {"issuer": stranger.url}).encode(), {}),
            (DISCOVERY, 200, json.dumps(good | {"jwks_uri": "http://x.example/keys"}).encode(), {}),
            (DISCOVERY, 200, json.dumps(good | {"jwks_uri": "file:///etc/passwd"}).encode(), {}),
            (DISCOVERY, 200, json.dumps({"issuer": issuer.url}).encode(), {}),
        ]
        for path, code, body, headers in answers:
            issuer.answers = {path: (code, body, headers)}
            with pytest.raises(AuthenticationDown):
                fetched(issuer)
        assert stranger.requests == []
        issuer.answers = {}
        issuer.is_down = True
        with pytest.raises(AuthenticationDown):
            fetched(issuer)
        issuer.is_down = False
        assert fetched(issuer) == {"one"}
