"""Reads the address of an engine: `sluice+https://kim:<token>@gateway/lake/tpcds?timeout_s=60`."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from sluice_client.settings import RetryPolicy, Timeouts

T = TypeVar("T")
_TAG, _SETTING = "tag.", "setting."
_WAITS = frozenset(field.name for field in fields(Timeouts))
_RETRIES = frozenset(field.name for field in fields(RetryPolicy))


def connect_arguments(url: URL, scheme: str) -> tuple[str, dict[str, Any]]:
    """Returns the address of the gateway, and the arguments of `sluice_client.dbapi.connect`.

    Results are as large as the gateway's operator allows, unless the address has a limit.

    Raises:
        ArgumentError: the address is not valid. The message has no part of it that may be a secret.
    """
    _check(url)
    values = _single_values(url.query)
    arguments: dict[str, Any] = {"token": str(url.password)} if url.password else {}
    arguments |= _names(url.database) | _certificates(values) | _patience(values)
    tags = _begun_by(_TAG, values)
    if tags:
        arguments["tags"] = tags
    session = _session(values)
    if session is not False:
        arguments["session"] = session
    arguments["query_options"] = _query_options(values)
    if values:
        raise ArgumentError(f"the address has keys that are not known: {', '.join(sorted(values))}")
    return _base_url(url, scheme), arguments


def _check(url: URL) -> None:
    if not url.host:
        raise ArgumentError("the address of the gateway has no host")
    if url.username and url.password is None:
        # SQLAlchemy shows names in every repr, and this may be a token.
        raise ArgumentError(
            "write a token as the password: sluice://:<token>@host, not as the name before it"
        )


def _patience(values: dict[str, str]) -> dict[str, Any]:
    waits = {name: _number(name, values.pop(name)) for name in _WAITS & values.keys()}
    again = {name: _number(name, values.pop(name)) for name in _RETRIES & values.keys()}
    found: dict[str, Any] = {"timeouts": _made(Timeouts, waits)} if waits else {}
    return {**found, "retries": _made(RetryPolicy, again)} if again else found


def _base_url(url: URL, scheme: str) -> str:
    host = str(url.host)
    try:
        is_ipv6 = ipaddress.ip_address(host).version == 6
    except ValueError:
        is_ipv6 = False
    place = f"[{host}]" if is_ipv6 else host
    return f"{scheme}://{place}" if url.port is None else f"{scheme}://{place}:{url.port}"


def _names(path: str | None) -> dict[str, str]:
    parts = (path or "").rstrip("/").split("/")
    if len(parts) > 2 or (len(parts) == 2 and not all(parts)):
        raise ArgumentError("the path of the address is /catalog or /catalog/schema")
    return {name: part for name, part in zip(("catalog", "schema"), parts, strict=False) if part}


def _single_values(query: Mapping[str, str | tuple[str, ...]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in query.items():
        if not isinstance(value, str):
            raise ArgumentError(f"the address has {name} more than once")
        found[name] = value
    return found


def _certificates(values: dict[str, str]) -> dict[str, Any]:
    ca_file, certificate, key = (values.pop(name, None) for name in ("ca_file", "certificate", "key"))
    if (certificate is None) != (key is None):
        raise ArgumentError("certificate and key go together")
    found: dict[str, Any] = {} if ca_file is None else {"ca_file": ca_file}
    return found if certificate is None else {**found, "certificate": (certificate, key)}


def _session(values: dict[str, str]) -> bool | dict[str, Any]:
    options: dict[str, Any] = {}
    settings = _begun_by(_SETTING, values)
    if settings:
        options["settings"] = settings
    time_zone = values.pop("time_zone", None)
    if time_zone is not None:
        options["time_zone"] = time_zone
    is_asked = _boolean("session", values.pop("session")) if "session" in values else bool(options)
    if options and not is_asked:
        raise ArgumentError(
            "time_zone and setting.<name> are those of a session, which session=false refuses"
        )
    return options or is_asked


def _query_options(values: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: _limit(name, values.pop(name, "MAX")) for name in ("row_limit", "byte_limit")
    }
    if "timeout_s" in values:
        found["timeout_s"] = _number("timeout_s", values.pop("timeout_s"))
    if "reuse_result" in values:
        text = values.pop("reuse_result")
        found["reuse_result"] = "REFRESH" if text.upper() == "REFRESH" else _boolean("reuse_result", text)
    return found


def _begun_by(prefix: str, values: dict[str, str]) -> dict[str, str]:
    names = [name for name in values if name.startswith(prefix) and name != prefix]
    return {name.removeprefix(prefix): values.pop(name) for name in names}


def _limit(name: str, text: str) -> int | str:
    if text.upper() == "MAX":
        return "MAX"
    return int(_whole(name, text))


def _number(name: str, text: str) -> float:
    if name == "attempts":
        return _whole(name, text)
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(f"{name} in the address is not a number") from None


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ArgumentError(f"{name} in the address is not a whole number")
    return int(text)


def _boolean(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ArgumentError(f"{name} in the address is neither true nor false")
    return text.lower() == "true"


def _made(kind: Callable[..., T], values: Mapping[str, float]) -> T:
    try:
        return kind(**values)
    except ValueError as error:
        raise ArgumentError(str(error)) from None
