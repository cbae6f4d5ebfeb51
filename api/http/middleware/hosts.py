"""The host names that this server answers to, so that no web page can reach it by a name of its own."""

from __future__ import annotations

import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.bootstrap.settings import Settings
from api.http.problems.http_errors import HostNotAllowed
from api.http.problems.problems import problem_response

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::[0-9]*)?")


class KnownHosts:
    """ASGI middleware: 421 for a `Host` that is neither loopback nor the host of the settings.

    A page of `evil.example` may have its name bound to 127.0.0.1. To a browser, it then has the same origin
    as this server, and only `Host` differs. Such a page knows no tokens, and an operator who lets everyone in
    has named no hosts: in both cases, every host is accepted.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._takes_any = settings.has_authentication or settings.allow_unauthenticated
        self._known = _LOOPBACK | {_bracketed(settings.host.lower())}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or self._takes_any or self._is_known(Headers(scope=scope).getlist("Host")):
            await self._app(scope, receive, send)
            return
        await problem_response(HostNotAllowed(), scope["path"])(scope, receive, send)

    def _is_known(self, hosts: list[str]) -> bool:
        return len(hosts) == 1 and host_name(hosts[0]) in self._known


def host_name(host: str) -> str | None:
    """Returns the name in a `Host` header without its port; None if it is not valid.

    >>> host_name("Localhost:8080"), host_name("[::1]:8080"), host_name("a:b")
    ('localhost', '[::1]', None)
    """
    found = _HOST.fullmatch(host.strip().lower())
    return found[1] if found else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
