"""Fetches JSON documents from an issuer's server, with bounds on size and time, and without redirects."""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from typing import Any

import httpx
import orjson

from service.errors.credential_errors import AuthenticationDown
from service.model.authentication.addresses import is_safe_address

MAX_BYTES = 512 * 1024


def fetch_document(url: str, timeout_s: float, tls: ssl.SSLContext) -> Mapping[str, Any]:
    """Returns the JSON object at this address. Does not follow redirects.

    Raises:
        AuthenticationDown: there is no object, or it is too large, or takes too long.
    """
    check_address(url)
    status, body = _asked("GET", url, timeout_s, tls)
    if status != httpx.codes.OK:
        raise AuthenticationDown(f"The issuer answered {status} where its keys should be.")
    document = _object(body)
    if document is None:
        raise AuthenticationDown("The issuer's answer is not a JSON object.")
    return document


def post_form(
    url: str,
    form: Mapping[str, str],
    timeout_s: float,
    tls: ssl.SSLContext,
    basic: tuple[str, str] | None = None,
) -> tuple[int, Mapping[str, Any] | None]:
    """Sends a form, and returns the status and the JSON object of the answer. None: it is not an object.

    `basic` is a name and a password. Redirects are not followed: nobody else gets the form.

    Raises:
        AuthenticationDown: there is no answer, or it is too large, or takes too long.
    """
    check_address(url)
    status, body = _asked("POST", url, timeout_s, tls, data=dict(form), auth=basic)
    return status, _object(body)


def check_address(url: str) -> None:
    """Checks that nobody on the way can change answers from this address.

    Raises:
        AuthenticationDown: the address is not https, and not on this machine.
    """
    if not is_safe_address(url):
        raise AuthenticationDown("The issuer's keys are at an address that is not https.")


def _asked(method: str, url: str, timeout_s: float, tls: ssl.SSLContext, **sent: Any) -> tuple[int, bytes]:
    ends_s = time.monotonic() + timeout_s
    # A compressed answer could have any size once it is decompressed.
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    try:
        with (
            httpx.Client(verify=tls, timeout=timeout_s, follow_redirects=False) as client,
            client.stream(method, url, headers=headers, **sent) as response,
        ):
            return response.status_code, _body(response, ends_s)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise AuthenticationDown(f"The issuer does not answer: {type(error).__name__}.") from error


def _object(body: bytes) -> Mapping[str, Any] | None:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return document if isinstance(document, dict) else None


def _body(response: httpx.Response, ends_s: float) -> bytes:
    body = b""
    for piece in response.iter_raw():
        body += piece
        if len(body) > MAX_BYTES:
            raise AuthenticationDown("The issuer's answer is too large.")
        if time.monotonic() > ends_s:
            raise AuthenticationDown("The issuer's answer comes too slowly.")
    return body
