"""Says which paths need no credentials, and whose request this is."""

from __future__ import annotations

from contextvars import ContextVar

ANONYMOUS = "anonymous"
calling: ContextVar[str] = ContextVar("calling", default=ANONYMOUS)
"""The caller whose request this task serves."""
OPEN_PATHS = frozenset(
    {
        "/",
        "/console",
        "/console/",
        "/console/logins",
        "/healthz",
        "/livez",
        "/readyz",
        "/docs",
        "/openapi.json",
        "/swagger/swagger-ui-bundle.js",
        "/swagger/swagger-ui.css",
        "/swagger/favicon-32x32.png",
    }
)
"""Paths that probes and browsers have to reach without credentials."""
_CONSOLE = ("/console/static/", "/console/login/")
"""The files of the console, and the logins of users at their issuers."""


def is_open(path: str) -> bool:
    """Whether a request for this path needs no credentials.

    >>> is_open("/healthz"), is_open("/console/static/a.js"), is_open("/console/session")
    (True, True, False)
    """
    return path in OPEN_PATHS or path.startswith(_CONSOLE)
