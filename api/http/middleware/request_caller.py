"""Says which paths need no credentials, and whose request this is."""

from __future__ import annotations

from contextvars import ContextVar

ANONYMOUS = "anonymous"
calling: ContextVar[str] = ContextVar("calling", default=ANONYMOUS)
"""The caller whose request this task serves."""
OPEN_PATHS = frozenset(
    {
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
