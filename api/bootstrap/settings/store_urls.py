"""Checks the addresses of stores before anything is asked there. No message shows a value."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo
from rapidfuzz import fuzz, process

from service.errors.gateway_error import did_you_mean
from service.model.operations.cache_address import cache_address

POSTGRES_FORM = "postgresql://user:password@host:5432,other:5432/database?sslmode=verify-full"
_SCHEMES = ("postgresql", "postgresql+psycopg", "postgres")
_ESCAPES = "write @, :, / and # in a password as %40, %3A, %2F and %23"
_TAKES_WRITES = ("read-write", "primary")
_ALIKE_PERCENT = 75


def check_postgres_url(url: str) -> None:
    """Checks that PostgreSQL's own library understands the URL, and that it asks for a writable server.

    >>> check_postgres_url("postgresql://a:5432,b:5433/db?target_session_attrs=standby")
    Traceback (most recent call last):
    ValueError: target_session_attrs has to be read-write or primary: the gateway writes

    Raises:
        ValueError: it cannot be used; the message says what to fix.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in _SCHEMES:
        raise ValueError(f"it has to begin with postgresql://, like {POSTGRES_FORM}")
    _check_names(url)
    try:
        given = {name: str(value) for name, value in conninfo_to_dict(f"postgresql://{rest}").items()}
    except psycopg.Error:
        raise ValueError(f"it is not a PostgreSQL address, such as {POSTGRES_FORM}; {_ESCAPES}") from None
    _check_hosts(given)
    wanted = given.get("target_session_attrs")
    is_of_several = "," in given.get("host", "")
    if wanted not in (*_TAKES_WRITES, None) and (is_of_several or wanted != "any"):
        raise ValueError("target_session_attrs has to be read-write or primary: the gateway writes")
    is_checked = given.get("sslmode") in ("require", "verify-ca", "verify-full")
    if not is_checked and given.get("sslrootcert", "system") != "system":
        raise ValueError(
            "sslrootcert has no effect without sslmode=verify-full: any certificate would be accepted"
        )


def check_cache_url(url: str) -> None:
    """Checks that the URL is one of a filter cache.

    Raises:
        ValueError: it is not; the message says what to fix.
    """
    if not url.startswith("unix://"):
        cache_address(url)


def _check_names(url: str) -> None:
    known = {default.keyword.decode() for default in Conninfo.get_defaults()} | {"ssl"}
    found: set[str] = set()
    for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True):
        if name not in known:
            if not name.replace("_", "").isalnum():
                raise ValueError(f"its options cannot be read; {_ESCAPES}")
            meant = process.extractOne(name, sorted(known), scorer=fuzz.ratio, score_cutoff=_ALIKE_PERCENT)
            raise ValueError(f"PostgreSQL has no option {name}.{did_you_mean([meant[0]] if meant else [])}")
        if name in found:
            raise ValueError(f"{name} is there twice; several hosts are host:port,host:port before the /")
        found.add(name)


def _check_hosts(given: Mapping[str, str]) -> None:
    hosts, ports = given.get("host", "").split(","), given.get("port", "").split(",")
    if len(hosts) > 1 and not all(hosts):
        raise ValueError("one of its hosts is empty")
    if len(ports) not in (1, len(hosts)):
        raise ValueError("it needs one port for all hosts, or one for each")
    if not all(not port or (port.isdecimal() and 0 < int(port) < 65_536) for port in ports):
        raise ValueError("one of its ports is not a number from 1 to 65535")
