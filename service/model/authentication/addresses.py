"""Checks whether an address can be trusted."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_safe_address(url: str) -> bool:
    """Whether nobody on the way can change answers from this address.

    >>> [is_safe_address(f"{origin}/a") for origin in ("https://a.example", "http://127.0.0.1:1", "http://a.example")]
    [True, True, False]
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
