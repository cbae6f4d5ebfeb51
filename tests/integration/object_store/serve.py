"""moto's S3 as a server that authenticates callers: the key must be the right one, and the signature valid.

Argument: the port. The key and its secret are in the environment. A POST to `AGE` makes all objects older.
One to `DENY` replaces the denied actions, which moto's policies cannot express for listing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import run_simple

from tests.integration.object_store.names import AGE, DENY, KEY, SECRET, Denial

AGED_BY = timedelta(days=3)
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<scope>[^,]+),\s*"
    r"SignedHeaders=(?P<headers>[^,]+),\s*Signature=(?P<signature>\w+)"
)
_REFUSED = b"<Error><Code>%s</Code><Message>The store's own words.</Message></Error>"
Environment = dict[str, Any]


class Guarded:
    """Passes only correctly signed requests to the app."""

    def __init__(self, app: Any, key: str, secret: str) -> None:
        self._app = app
        self._key = key
        self._secret = secret
        self._denials: tuple[Denial, ...] = ()

    def __call__(self, environment: Environment, start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environment["PATH_INFO"] in (AGE, DENY):
            self._turn(environment)
            start_response("204 No Content", [])
            return []
        code = self._refusal(environment)
        if code is None:
            answer: Iterable[bytes] = self._app(environment, start_response)
            return answer
        status = "503 Slow Down" if code == b"SlowDown" else "403 Forbidden"
        start_response(status, [("Content-Type", "application/xml")])
        return [] if environment["REQUEST_METHOD"] == "HEAD" else [_REFUSED % code]

    def _turn(self, environment: Environment) -> None:
        if environment["PATH_INFO"] == AGE:
            _age_everything()
        else:
            body = environment["wsgi.input"].read(int(environment["CONTENT_LENGTH"]))
            self._denials = tuple(Denial(**denial) for denial in json.loads(body))

    def _refusal(self, environment: Environment) -> bytes | None:
        found = _AUTHORIZATION.match(environment.get("HTTP_AUTHORIZATION", ""))
        if found is None:
            return b"AccessDenied"
        if found["key"] != self._key:
            return b"InvalidAccessKeyId"
        wanted = _signature(
            self._secret, found["scope"], _canonical(environment, found["headers"]), environment
        )
        if not hmac.compare_digest(wanted, found["signature"]):
            return b"SignatureDoesNotMatch"
        denial = next((denial for denial in self._denials if _is_meant(environment, denial)), None)
        if denial is None:
            return None
        return b"AccessDenied" if denial.status == 403 else b"SlowDown"


def _age_everything() -> None:
    for bucket in s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets.values():
        for key in bucket.keys.values():
            key.last_modified -= AGED_BY


def _is_meant(environment: Environment, denial: Denial) -> bool:
    bucket, _, key = environment["PATH_INFO"][1:].partition("/")
    actions = {"GET": "get", "HEAD": "get", "PUT": "put", "POST": "put", "DELETE": "delete"}
    action = actions[environment["REQUEST_METHOD"]] if key else "list"
    return (bucket, action) == (denial.bucket, denial.action) and key.endswith(denial.ending)


def _canonical(environment: Environment, signed: str) -> str:
    path, _, query = environment["RAW_URI"].partition("?")
    pairs = sorted(
        parameter if "=" in parameter else f"{parameter}=" for parameter in query.split("&") if parameter
    )
    headers = "".join(f"{name}:{_header(environment, name)}\n" for name in signed.split(";"))
    content = environment.get("HTTP_X_AMZ_CONTENT_SHA256", "")
    return "\n".join([environment["REQUEST_METHOD"], path, "&".join(pairs), headers, signed, content])


def _header(environment: Environment, name: str) -> str:
    plain = name.upper().replace("-", "_")
    is_bare = plain in ("CONTENT_TYPE", "CONTENT_LENGTH")
    value: str = environment.get(plain if is_bare else f"HTTP_{plain}", "")
    return " ".join(value.split())


def _signature(secret: str, scope: str, canonical: str, environment: Environment) -> str:
    moment = environment["HTTP_X_AMZ_DATE"]
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for part in unquote(scope).split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{digest}".encode(), "sha256").hex()


if __name__ == "__main__":
    guarded = Guarded(create_backend_app("s3"), os.environ[KEY], os.environ[SECRET])
    run_simple("127.0.0.1", int(sys.argv[1]), guarded, threaded=True)
