"""Checks whether an address can be trusted."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def is_safe_address(url: str) -> bool:
    """Whether it is an address, and nobody on the way can change answers from it.

    >>> [is_safe_address(f"{origin}/a") for origin in ("https://a.example", "http://127.0.0.1:1", "http://a.example")]
    [True, True, False]
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    return (
        bool(host)
        and port != 0
        and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)))
    )


def origin_of(url: str) -> str | None:
    """Returns an address without its path, as browsers write an origin. None: it has none.

    >>> [origin_of(url) for url in ("https://A.example:443/x?y", "http://[::1]:80", "https://u@a.example")]
    ['https://a.example', 'http://[::1]', None]
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host or "@" in parts.netloc or parts.scheme not in _PORTS:
        return None
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if port in (None, _PORTS[parts.scheme]) else f":{port}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
