"""The audited action of each route."""

from __future__ import annotations

import re

from service.model.audit.events import Action

_ACTIONS = tuple(
    (method, re.compile(path), action)
    for method, path, action in (
        ("POST", r"/query", Action.QUERY),
        ("POST", r"/ingest", Action.INGEST),
        ("DELETE", r"/query(?:/[^/]+)?", Action.QUERY_CANCELED),
        ("POST", r"/explain", Action.EXPLAIN),
        ("POST", r"/describe", Action.EXPLAIN),
        ("POST", r"/sessions", Action.SESSION_CREATED),
        ("PUT", r"/sessions/[^/]+/views/[^/]+", Action.SESSION_CHANGED),
        ("DELETE", r"/sessions/[^/]+/views/[^/]+", Action.SESSION_CHANGED),
        ("DELETE", r"/sessions/[^/]+", Action.SESSION_ENDED),
        ("POST", r"/saved-queries", Action.SAVED_QUERY_CREATED),
        ("PUT", r"/saved-queries/[^/]+", Action.SAVED_QUERY_CHANGED),
        ("DELETE", r"/saved-queries/[^/]+", Action.SAVED_QUERY_DELETED),
        ("POST", r"/streams", Action.STREAM_CREATED),
        ("DELETE", r"/streams/[^/]+", Action.STREAM_STOPPED),
        ("POST", r"/streams/[^/]+/resume", Action.STREAM_RESUMED),
        ("POST", r"/tables/[^/]+/maintenance", Action.MAINTENANCE),
        ("POST", r"/advice/[^/]+/trials", Action.MAINTENANCE),
        ("DELETE", r"/advice/[^/]+/trials/[^/]+", Action.MAINTENANCE),
        ("DELETE", r"/filters(?:/[^/]+)?", Action.FILTERS_DELETED),
        ("DELETE", r"/caches/[^/]+", Action.CACHE_EMPTIED),
        ("POST", r"/keys", Action.KEY_CREATED),
        ("GET", r"/keys", Action.KEYS_LISTED),
        ("DELETE", r"/keys/[^/]+", Action.KEY_REVOKED),
        ("POST", r"/console/session", Action.LOGIN),
        ("DELETE", r"/console/session", Action.LOGOUT),
        ("GET", r"/audit", Action.AUDIT_READ),
        ("PUT", r"/policies", Action.POLICIES_CHANGED),
        ("POST", r"/policies/decide", Action.POLICIES_READ),
        ("GET", r"/policies(?:/changes)?", Action.POLICIES_READ),
    )
)


def action_of(method: str, path: str) -> Action | None:
    """Returns the action of a request. None: no route changes anything there.

    >>> action_of("POST", "/query"), action_of("GET", "/tables/lake.a.t"), action_of("PATCH", "/query")
    (<Action.QUERY: 'QUERY'>, <Action.READ: 'READ'>, None)
    """
    for known, pattern, action in _ACTIONS:
        if known == method and pattern.fullmatch(path):
            return action
    return Action.READ if method in ("GET", "HEAD") else None
