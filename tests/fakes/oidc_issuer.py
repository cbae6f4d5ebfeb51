"""An issuer of access tokens: a real HTTP server with real keys, which can rotate them and go away."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

DISCOVERY, KEYS = "/.well-known/openid-configuration", "/keys"
AUDIENCE = "sluice"
Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@dataclass
class OidcIssuer:
    """`requests` has all paths. `answers` replaces answers by path. While `is_down`, nothing is answered."""

    url: str = ""
    keys: dict[str, Key] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    answers: dict[str, tuple[int, bytes, dict[str, str]]] = field(default_factory=dict)
    is_down: bool = False

    def add_key(self, key_id: str, *, is_elliptic: bool = False) -> None:
        """Adds a key, and publishes it at once."""
        self.keys[key_id] = (
            ec.generate_private_key(ec.SECP256R1()) if is_elliptic else rsa.generate_private_key(65_537, 2048)
        )

    def token(self, key_id: str = "one", headers: dict[str, Any] | None = None, **claims: Any) -> str:
        """Returns a token that is valid for a minute, without the claims that are None."""
        key = self.keys[key_id]
        algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
        return jwt.encode(
            self.claims(**claims), key, algorithm=algorithm, headers={"kid": key_id} | (headers or {})
        )

    def claims(self, **claims: Any) -> dict[str, Any]:
        """Returns the claims of a token."""
        now = int(time.time())
        full = {"iss": self.url, "sub": "ada", "aud": AUDIENCE, "iat": now, "exp": now + 60} | claims
        return {name: value for name, value in full.items() if value is not None}

    def published(self) -> list[dict[str, Any]]:
        """Returns the public keys."""
        return [_published(name, key) for name, key in self.keys.items()]

    def fetches(self) -> int:
        """Returns how often the keys were fetched."""
        return self.requests.count(KEYS)


def _published(key_id: str, key: Key) -> dict[str, Any]:
    public: Any = key.public_key()
    of_kind: Any = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    return {**json.loads(of_kind.to_jwk(public)), "kid": key_id, "use": "sig"}


@contextmanager
def oidc_issuer() -> Iterator[OidcIssuer]:
    """Runs an issuer with the RSA key `one`."""
    issuer = OidcIssuer()
    issuer.add_key("one")

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.requests.append(self.path)
            if issuer.is_down:
                self.close_connection = True
                return
            code, body, headers = issuer.answers.get(self.path) or _usual(issuer, self.path)
            self.send_response(code)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()


def _usual(issuer: OidcIssuer, path: str) -> tuple[int, bytes, dict[str, str]]:
    documents: dict[str, object] = {
        DISCOVERY: {"issuer": issuer.url, "jwks_uri": issuer.url + KEYS},
        KEYS: {"keys": issuer.published()},
    }
    found = documents.get(path)
    return (404, b"", {}) if found is None else (200, json.dumps(found).encode(), {})
