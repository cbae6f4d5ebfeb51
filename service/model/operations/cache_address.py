"""The address of the filter cache, read from its URL: one server, one behind sentinels, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

SERVER_PORT, SENTINEL_PORT = 6379, 26379
NODES_AT_MOST = 16
FORM = "redis://user:password@host:port/0"
FORMS = f"{FORM}, redis+sentinel://host:port,host:port/master or redis+cluster://host:port,host:port"


class CacheKind(StrEnum):
    """The place to look up keys: one server, a server behind sentinels, or the nodes of a cluster."""

    SERVER = "redis"
    SENTINEL = "redis+sentinel"
    CLUSTER = "redis+cluster"


@dataclass(frozen=True, slots=True)
class CacheAddress:
    """The address of a filter cache.

    `nodes` are the server, the sentinels, or some of a cluster's nodes. `master` is the sentinels' name for
    the server. `options` are the client's own, by the client's names.
    """

    kind: CacheKind
    nodes: tuple[tuple[str, int], ...]
    is_tls: bool = False
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    database: int = 0
    master: str = ""
    sentinel_username: str | None = field(default=None, repr=False)
    sentinel_password: str | None = field(default=None, repr=False)
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must never be shown."""
        return tuple(password for password in (self.password, self.sentinel_password) if password)


def cache_address(url: str) -> CacheAddress:
    """Returns the address that the URL spells.

    >>> cache_address("rediss+sentinel://:pw@a:26379,b/cache/1?ssl_ca_certs=/ca.pem").nodes
    (('a', 26379), ('b', 26379))

    Raises:
        ValueError: the URL is not such an address. The message says what is needed, and shows nothing of the
            URL.
    """
    scheme, _, _ = url.partition("://")
    is_tls = scheme.startswith("rediss")
    try:
        kind = CacheKind(scheme.replace("rediss", "redis", 1))
        parts = urlsplit(url)
    except ValueError:
        raise ValueError(
            f"it is not an address of a filter cache, such as {FORMS}; rediss is with TLS"
        ) from None
    credentials, _, hosts = parts.netloc.rpartition("@")
    username, _, password = credentials.partition(":")
    options = _options(parts, kind, is_tls=is_tls)
    master, database = _path(parts, kind)
    return CacheAddress(
        kind,
        _nodes(hosts, kind),
        is_tls,
        unquote(username) or _text(options, "username"),
        unquote(password) or _text(options, "password"),
        _database(options.pop("db", database), kind),
        master,
        _text(options, "sentinel_username"),
        _text(options, "sentinel_password"),
        MappingProxyType(options),
    )


def _nodes(hosts: str, kind: CacheKind) -> tuple[tuple[str, int], ...]:
    default = SENTINEL_PORT if kind is CacheKind.SENTINEL else SERVER_PORT
    nodes = tuple(_node(host, default) for host in hosts.split(","))
    if kind is CacheKind.SERVER and len(nodes) > 1:
        raise ValueError("it names several servers: begin it with redis+sentinel:// or redis+cluster://")
    if len(nodes) > NODES_AT_MOST:
        raise ValueError(f"it names more than {NODES_AT_MOST} servers, and each may be waited for")
    if len(set(nodes)) < len(nodes):
        raise ValueError("it names a server twice")
    return nodes


def _node(text: str, default_port: int) -> tuple[str, int]:
    # Parsed node by node: urlsplit reads only one host from a netloc. It also lowers the host's case.
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("one of its ports is not a number from 1 to 65535") from None
    if not host or "@" in text:
        raise ValueError(
            f"one of its hosts is empty: spell it like {FORM};"
            " write @, :, / and # in a password as %40, %3A, %2F and %23"
        )
    if port == 0:
        raise ValueError("one of its ports is not a number from 1 to 65535")
    return unquote(host), port or default_port


def _path(parts: SplitResult, kind: CacheKind) -> tuple[str, str]:
    """Returns the master's name and the database, as they are spelled."""
    names = [unquote(name) for name in parts.path.strip("/").split("/") if name]
    if kind is CacheKind.SENTINEL:
        if not names:
            raise ValueError("after the sentinels comes the master's name: redis+sentinel://host:port/master")
        master, *names = names
    else:
        master = ""
    if len(names) > 1:
        raise ValueError("its path has more than a database's number" + (" and a master" if master else ""))
    return master, names[0] if names else "0"


def _database(value: object, kind: CacheKind) -> int:
    text = str(value)
    if not text.isdecimal():
        raise ValueError("its database is not a number")
    if kind is CacheKind.CLUSTER and int(text):
        raise ValueError("a cluster has the database 0 alone")
    return int(text)


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "yes", "1", "false", "no", "0"):
        raise ValueError
    return text.lower() in ("true", "yes", "1")


def _requirement(text: str) -> str:
    if text.lower() not in ("none", "optional", "required"):
        raise ValueError
    return text.lower()


_TLS: Mapping[str, Callable[[str], object]] = {
    "ssl_ca_certs": str,
    "ssl_ca_path": str,
    "ssl_ca_data": str,
    "ssl_certfile": str,
    "ssl_keyfile": str,
    "ssl_password": str,
    "ssl_cert_reqs": _requirement,
    "ssl_check_hostname": _boolean,
    "ssl_ciphers": str,
}
_PLAIN: Mapping[str, Callable[[str], object]] = {
    "username": str,
    "password": str,
    "db": int,
    "client_name": str,
    "protocol": int,
    "socket_timeout": float,
    "socket_connect_timeout": float,
    "socket_keepalive": _boolean,
    "health_check_interval": int,
    "max_connections": int,
    "timeout": float,
}
_SENTINEL: Mapping[str, Callable[[str], object]] = {"sentinel_username": str, "sentinel_password": str}


def _options(parts: SplitResult, kind: CacheKind, *, is_tls: bool) -> dict[str, object]:
    known = {**_PLAIN, **_TLS, **(_SENTINEL if kind is CacheKind.SENTINEL else {})}
    options: dict[str, object] = {}
    for name, text in parse_qsl(parts.query, keep_blank_values=True):
        if name not in known:
            raise ValueError(f"a filter cache of this kind has no option {_shown(name)}")
        if name in _TLS and not is_tls:
            raise ValueError(f"{name} needs TLS: begin it with rediss instead of redis")
        try:
            options[name] = known[name](text)
        except ValueError:
            raise ValueError(f"its option {name} has no value that it can have") from None
    return options


def _shown(name: str) -> str:
    # Text after an unescaped ? in a password is not the name of an option, and is not shown.
    return name if name.isidentifier() and len(name) <= 32 else "of that name"


def _text(options: dict[str, object], name: str) -> str | None:
    value = options.pop(name, None)
    return None if value is None else str(value)
