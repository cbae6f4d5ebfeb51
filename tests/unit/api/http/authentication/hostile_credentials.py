"""Request headers that only attackers send."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

from service.model.authentication.api_keys import MadeKey
from tests.fakes.oidc_issuer import OidcIssuer

Headers = list[tuple[bytes, bytes]]


def hostile_headers(issuer: OidcIssuer, key: MadeKey) -> list[Headers]:
    """Returns more than a hundred headers without valid credentials."""
    values = [*_schemes(), *_keys(key), *_tokens(issuer), *_texts()]
    headers = [[(b"Authorization", value)] for value in values]
    good = b"Bearer " + key.text.encode()
    headers += [
        [(b"Authorization", good), (b"Authorization", good)],
        [(b"Authorization", good), (b"Authorization", b"")],
        [(b"Authorization", b"Bearer a-first-one"), (b"Authorization", good)],
        [(b"Cookie", b"token=" + key.text.encode()), (b"Authorization", b"Bearer not-that-cookie")],
        [(b"Proxy-Authorization", good), (b"Authorization", b"Bearer not-that-proxy")],
        [(b"X-Api-Key", key.text.encode()), (b"Authorization", b"Bearer not-that-header")],
        [(b"X-Forwarded-User", b"root"), (b"Authorization", b"Bearer not-that-user")],
        [(b"X-Forwarded-For", b"127.0.0.1"), (b"Authorization", b"Bearer not-that-address")],
    ]
    return headers


def _schemes() -> Iterator[bytes]:
    for scheme in (
        "",
        "Bearer",
        "bearer ",
        "Basic",
        "Digest",
        "Negotiate",
        "Bearer:",
        "Token",
        "Key",
        "Bear er",
    ):
        yield f"{scheme} tess-like-secret".encode() if scheme.strip() != "Bearer" else scheme.encode()
    yield b"Basic " + base64.b64encode(b"tess:tess-like-secret")
    yield b"Bearer\ttess-like-secret"
    yield b"tess-like-secret"


def _keys(key: MadeKey) -> Iterator[bytes]:
    text, key_id = key.text, key.key.key_id
    secret = text.split("_", 2)[2]
    wrong = "A" * 43
    for changed in (
        text[:-1],
        text[1:],
        text + "=",
        text + "A",
        text.upper(),
        text.replace("sluice_", "sluice-"),
        text.replace("sluice_", "sluice__"),
        f"sluice_{key_id}",
        f"sluice_{key_id}_",
        f"sluice__{secret}-x",
        f"sluice_{key_id}_{wrong}",
        f"sluice_{key_id}_{secret[:-1]}",
        f"sluice_{key_id}_{secret[::-1]}x",
        f"sluice_{key_id[::-1]}_{wrong}",
        f"sluice_{key_id}_{secret}_{secret}",
        f"sluice_{key_id}_%00{secret}",
        f"sluice_{key_id}' OR '1'='1_{wrong}",
        f"sluice_{key.key.secret_sha256.hex()}",
        f"sluice_{key_id}_{key.key.secret_sha256.hex()}",
        f"sluice_{key_id}_{base64.urlsafe_b64encode(key.key.secret_sha256).decode().rstrip('=')}",
        f"{text} {text}",
        f"{text},{text}",
    ):
        yield b"Bearer " + changed.encode()
    for number in range(20):
        yield f"Bearer sluice_{number:016x}_{wrong}".encode()


def _tokens(issuer: OidcIssuer) -> Iterator[bytes]:
    good = issuer.token()
    head, claims, signature = good.split(".")
    for header in (
        {"alg": "none"},
        {"alg": "None", "kid": "one"},
        {"alg": "HS256", "kid": "one"},
        {"alg": "RS256", "kid": "../../etc/passwd"},
        {"alg": "RS256", "kid": "' OR 1=1 --"},
        {"alg": "RS256", "kid": 7},
        {"alg": "RS256", "kid": None},
        {"alg": "RS256", "kid": "k" * 2000},
        {"alg": ["RS256"], "kid": "one"},
        {"alg": "RS256", "kid": "one", "crit": ["x"]},
        {"alg": "RS256", "kid": "one", "jku": "http://127.0.0.1:1/"},
        {"alg": "RS256", "kid": "one", "jwk": {"kty": "oct", "k": "AA"}},
        {"alg": "ES256", "kid": "one"},
        {"alg": "RS512", "kid": "one"},
        {},
    ):
        yield b"Bearer " + f"{_encoded(header)}.{claims}.{signature}".encode()
        yield b"Bearer " + f"{_encoded(header)}.{claims}.".encode()
    for text in (
        f"{head}.{claims}",
        f"{head}.{claims}.{signature[:-4]}",
        f"{head}.{claims}.{signature[:-4]}AAAA",
        f"{head}.{_encoded(issuer.claims(sub='root'))}.{signature}",
        f"{head}.{claims}.{signature}.{signature}",
        f"{head}..{signature}",
        f"{claims}.{head}.{signature}",
        f"{head}.{_encoded([1])}.{signature}",
        f"{head}.{_encoded({'iss': [issuer.url]})}.{signature}",
        f"{head}.{_encoded({'iss': issuer.url + '/'})}.{signature}",
        f"eyJ{'[' * 4000}.eyJ.eyJ",
        issuer.token(exp=1),
        issuer.token(aud="somebody-else"),
        issuer.token(nbf=4_000_000_000),
        issuer.token(sub="a\nb"),
        issuer.token(more="x" * 20_000),
        issuer.token(roles=["r"] * 300),
    ):
        yield b"Bearer " + text.encode()


def _texts() -> Iterator[bytes]:
    yield b"Bearer " + b"a" * 20_000
    yield b"Bearer " + "ünïcödé-secret".encode()
    yield b"Bearer \xff\xfe-not-utf-8"
    for text in (
        "null",
        "undefined",
        "true",
        "{}",
        "[]",
        "../../secret",
        "${jndi:ldap://x}",
        "<script>x</script>",
    ):
        yield b"Bearer something-like-" + text.encode()
    yield b"Bearer " + base64.b64encode(json.dumps({"sub": "root"}).encode())


def _encoded(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
