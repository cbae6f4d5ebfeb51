"""Converts an SQL catalog's address from SQLAlchemy's form to JDBC's."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from service.errors.gateway_error import CannotStart

# libpq's names on the left, the PostgreSQL JDBC driver's on the right.
_POSTGRESQL_OPTIONS: Mapping[str, str] = {
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "application_name": "ApplicationName",
}

CONNECT_WITHIN_S = 10
ANSWER_WITHIN_S = 60


def jdbc_properties(name: str, uri: str) -> dict[str, str]:
    """`uri`, `jdbc.user`, `jdbc.password`, and the driver's timeouts; the address contains no secret.

    Raises:
        CannotStart: the address is not one that both SQLAlchemy and JDBC can use.

    >>> found = jdbc_properties("lake", "postgresql+psycopg://me:s3cret@db:5432/lake")
    >>> found["uri"], found["jdbc.user"], found["jdbc.password"], found["jdbc.socketTimeout"]
    ('jdbc:postgresql://db:5432/lake', 'me', 's3cret', '60')
    """
    try:
        url = make_url(uri)
    except (ArgumentError, ValueError):
        # The parser's own message holds the address, and with it the password.
        raise CannotStart(f"Catalog {name}: property uri is not an SQLAlchemy address.") from None
    match url.get_backend_name():
        case "postgresql":
            return _postgresql(name, url)
        case "sqlite":
            return _sqlite(name, url)
        case other:
            raise CannotStart(f"Catalog {name}: property uri must be postgresql or sqlite, not {other}.")


def _postgresql(name: str, url: URL) -> dict[str, str]:
    options = {key: value for key, value in url.query.items() if isinstance(value, str)}
    host = url.host or options.get("host", "localhost")
    if host.startswith("/"):
        raise CannotStart(
            f"Catalog {name}: property uri names a Unix socket, which JDBC cannot use; give a host."
        )
    port = url.port or options.get("port", "5432")
    database = quote(url.database or options.get("dbname", ""), safe="")
    parameters = {
        _POSTGRESQL_OPTIONS[key]: value for key, value in options.items() if key in _POSTGRESQL_OPTIONS
    }
    address = f"jdbc:postgresql://{_bracketed(host)}:{port}/{database}"
    given = {
        "uri": f"{address}?{urlencode(parameters, safe='/')}" if parameters else address,
        "jdbc.user": url.username or options.get("user"),
        "jdbc.password": url.password or options.get("password"),
    }
    return _timeouts(options) | {key: value for key, value in given.items() if value}


def _timeouts(options: Mapping[str, str]) -> dict[str, str]:
    # The driver waits forever by default. JDBC connects in two steps; libpq's connect_timeout bounds each.
    connect = options.get("connect_timeout", str(CONNECT_WITHIN_S))
    return {
        "jdbc.connectTimeout": connect,
        "jdbc.loginTimeout": connect,
        "jdbc.socketTimeout": str(ANSWER_WITHIN_S),
    }


def _sqlite(name: str, url: URL) -> dict[str, str]:
    if not url.database or url.database == ":memory:":
        raise CannotStart(
            f"Catalog {name}: property uri must name a file, memory cannot be shared with Spark."
        )
    return {"uri": f"jdbc:sqlite:{url.database}"}


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
