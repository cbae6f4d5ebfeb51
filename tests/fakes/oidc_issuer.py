"""An issuer of tokens: a real HTTP server with real keys, which logs users in, and can go away."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

DISCOVERY, KEYS = "/.well-known/openid-configuration", "/keys"
AUTHORIZE, TOKEN = "/authorize", "/token"
CLIENT_ID, CLIENT_SECRET = "console", "a secret: with%signs"
AUDIENCE = "sluice"
Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
Answer = tuple[int, bytes, dict[str, str]]


@dataclass
class CodeFlow:
    """How the issuer logs users in: at once, or with a page that has links.

    `granted` has what was asked for by each code that was not used yet. `id_claims` and `access_claims`
    change the claims of tokens; a claim that is None is left out. `asked` has the fields of all requests for
    codes, and `redeemed` those of all requests for tokens.
    """

    is_public: bool = False
    takes_basic: bool = True
    names_itself: bool = False
    checks_pkce: bool = True
    takes_codes_once: bool = True
    shows_page: bool = False
    id_claims: dict[str, Any] = field(default_factory=dict)
    access_claims: dict[str, Any] = field(default_factory=dict)
    granted: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    redeemed: list[dict[str, str]] = field(default_factory=list)


@dataclass
class OidcIssuer:
    """`requests` has all paths. `answers` replaces answers by path.

    While `is_down`, nothing is answered. While `is_slow`, answers come byte by byte, and do not end.
    """

    url: str = ""
    keys: dict[str, Key] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    is_down: bool = False
    is_slow: bool = False
    flow: CodeFlow = field(default_factory=CodeFlow)

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
def oidc_issuer(name: str = "127.0.0.1") -> Iterator[OidcIssuer]:
    """Runs an issuer with the RSA key `one`, under this name of the machine."""
    issuer = OidcIssuer()
    issuer.add_key("one")

    with ThreadingHTTPServer(("127.0.0.1", 0), _answering(issuer)) as server:
        issuer.url = f"http://{name}:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()


def _answering(issuer: OidcIssuer) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(lambda path: _usual(issuer, path))

        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(lambda _path: _tokens(issuer, form, self.headers.get("Authorization")))

        def answer(self, usual: Callable[[str], Answer]) -> None:
            issuer.requests.append(self.path)
            if issuer.is_down:
                self.close_connection = True
                return
            if issuer.is_slow:
                self.close_connection = True
                _answer_slowly(issuer, self.wfile)
                return
            path = urlsplit(self.path).path
            code, body, headers = issuer.answers.get(path) or usual(self.path)
            self.send_response(code)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    return Answering


def _answer_slowly(issuer: OidcIssuer, out: BufferedIOBase) -> None:
    out.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while issuer.is_slow:
        out.write(b"x")
        time.sleep(0.1)


def _usual(issuer: OidcIssuer, path: str) -> Answer:
    parts = urlsplit(path)
    if parts.path == AUTHORIZE:
        return _led_back(issuer, {name: values[0] for name, values in parse_qs(parts.query).items()})
    flow = issuer.flow
    methods = ["client_secret_basic"] if flow.takes_basic else ["client_secret_post", "none"]
    documents: dict[str, object] = {
        DISCOVERY: {
            "issuer": issuer.url,
            "jwks_uri": issuer.url + KEYS,
            "authorization_endpoint": issuer.url + AUTHORIZE,
            "token_endpoint": issuer.url + TOKEN,
            "token_endpoint_auth_methods_supported": methods,
            "authorization_response_iss_parameter_supported": flow.names_itself,
        },
        KEYS: {"keys": issuer.published()},
    }
    found = documents.get(path)
    return (404, b"", {}) if found is None else (200, json.dumps(found).encode(), {})


def _led_back(issuer: OidcIssuer, asked: dict[str, str]) -> Answer:
    issuer.flow.asked.append(asked)
    code = secrets.token_urlsafe(16)
    issuer.flow.granted[code] = asked
    back = {"code": code, "state": asked["state"]} | ({"iss": issuer.url} if issuer.flow.names_itself else {})
    place = f"{asked['redirect_uri']}?{urlencode(back)}"
    if not issuer.flow.shows_page:
        return 302, b"", {"Location": place}
    no = f"{asked['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': asked['state']})}"
    page = f'<title>Issuer</title><a href="{escape(place)}">Continue as ada</a> <a href="{escape(no)}">No</a>'
    return 200, page.encode(), {"Content-Type": "text/html"}


def _tokens(issuer: OidcIssuer, text: str, authorization: str | None) -> Answer:
    flow, form = issuer.flow, {name: values[0] for name, values in parse_qs(text).items()}
    flow.redeemed.append(form)
    if _client(flow, form, authorization) != (CLIENT_ID, None if flow.is_public else CLIENT_SECRET):
        return _refusal(401, "invalid_client")
    asked = flow.granted.get(form["code"])
    if flow.takes_codes_once:
        flow.granted.pop(form["code"], None)
    if asked is None or asked["redirect_uri"] != form["redirect_uri"]:
        return _refusal(400, "invalid_grant")
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    if flow.checks_pkce and (asked["code_challenge"], asked["code_challenge_method"]) != (challenge, "S256"):
        return _refusal(400, "invalid_grant")
    about_login = {"aud": CLIENT_ID, "nonce": asked["nonce"]} | flow.id_claims
    tokens = {"id_token": issuer.token(**about_login), "access_token": issuer.token(**flow.access_claims)}
    return 200, json.dumps({**tokens, "token_type": "Bearer", "expires_in": 60}).encode(), {}


def _client(flow: CodeFlow, form: dict[str, str], authorization: str | None) -> tuple[str | None, str | None]:
    if not flow.is_public and flow.takes_basic:
        _, _, encoded = (authorization or "").partition(" ")
        name, _, secret = base64.b64decode(encoded).decode().partition(":")
        return unquote_plus(name), unquote_plus(secret)
    return (form.get("client_id"), form.get("client_secret")) if authorization is None else (None, None)


def _refusal(status: int, error: str) -> Answer:
    return status, json.dumps({"error": error}).encode(), {}
