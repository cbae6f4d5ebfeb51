"""The address, the credentials and the certificates of a connection, checked before the first request."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

import httpx

from sluice_client.calls import Request
from sluice_client.secrets import BearerToken
from sluice_client.settings import Timeouts

Certificate: TypeAlias = Sequence[str | PathLike[str]]
"""The files of a client certificate and its key, and the key's password if it has one."""
_MAX_CONNECTIONS = 100
_IDLE_S = 4.0
"""Shorter than the five seconds after which gateways close a connection without requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The settings of both HTTP clients."""

    base_url: str
    token: BearerToken | None
    verify: ssl.SSLContext | bool
    timeouts: Timeouts

    def client_arguments(self) -> dict[str, Any]:
        """Returns the arguments of `httpx.Client` and `httpx.AsyncClient`."""
        return {
            "base_url": self.base_url,
            "auth": self.token,
            "verify": self.verify,
            # The credentials are for this address only.
            "follow_redirects": False,
            "limits": httpx.Limits(max_connections=_MAX_CONNECTIONS, keepalive_expiry=_IDLE_S),
            "headers": {"User-Agent": "sluice-client"},
        }

    def timeout(self, request: Request) -> httpx.Timeout:
        """Returns the times of one request."""
        answer_s = self.timeouts.answer_s if request.answer_s is None else request.answer_s
        return httpx.Timeout(
            connect=self.timeouts.connect_s,
            write=self.timeouts.send_s,
            read=request.wait_s + answer_s,
            pool=self.timeouts.connect_s,
        )


def checked_url(url: str) -> str:
    """Returns the address of a gateway without a slash at its end.

    >>> checked_url("http://127.0.0.1:8080/")
    'http://127.0.0.1:8080'

    Raises:
        ValueError: it is not an address, or has credentials, a query or a fragment.
    """
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        raise ValueError("the address of the gateway is not a valid URL") from None
    if parsed.userinfo:
        # The message does not show the address, which has a secret.
        raise ValueError("the address of the gateway has credentials in it: pass `token` instead")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"the address of a gateway begins with http:// or https://, not {url[:80]!r}")
    if parsed.query or parsed.fragment:
        raise ValueError("the address of the gateway has a query or a fragment")
    return str(parsed).rstrip("/")


def tls_context(
    ca_file: str | PathLike[str] | None, certificate: Certificate | None
) -> ssl.SSLContext | bool:
    """Returns the authorities to trust, and the client's own certificate.

    Raises:
        OSError: a file cannot be read, or does not fit the others.
        ValueError: the certificate is not two or three items.
    """
    if ca_file is None and certificate is None:
        return True
    context = httpx.create_ssl_context() if ca_file is None else ssl.create_default_context(cafile=ca_file)
    if certificate is not None:
        if isinstance(certificate, str) or len(certificate) not in (2, 3):
            raise ValueError("a certificate is (certificate file, key file) or these and a password")
        file, key, *password = certificate
        # With an empty password, OpenSSL fails on a key that has one, instead of asking on the terminal.
        context.load_cert_chain(file, key, str(password[0]) if password else "")
    return context
