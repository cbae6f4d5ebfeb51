"""The routers of all resources, in the order in which requests are matched against them."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute

from api.bootstrap.settings import Settings
from api.http.routes.administration import (
    api_keys,
    audit_routes,
    cache_routes,
    filters,
    health,
    metrics,
    policies,
    replicas,
)
from api.http.routes.console import issuer_login, login, pages
from api.http.routes.ingests import ingest, ingest_history, streams
from api.http.routes.queries import (
    chunks,
    descriptions,
    downloads,
    explain,
    query,
    query_events,
    query_list,
    saved_query_routes,
    session_routes,
)
from api.http.routes.tables import advice, maintenance, pruning, table_routes, trials


def _as_route(router: APIRouter) -> BaseRoute:
    parent = APIRouter()
    parent.include_router(router)
    return parent.routes[-1]


# FastAPI works out a route at the first request for one of its router, which takes 10 ms a route. All apps of
# a process share this work, because nothing of it depends on the app.
_ALWAYS = [
    _as_route(router)
    for router in (
        # Before the router for JSON, which takes every content type, and rejects all but JSON.
        ingest.records_router,
        # Routes are tried one after the other, and most requests are for these.
        ingest.json_router,
        *(query.router, query_list.router, chunks.router, downloads.router, query_events.router),
        *(explain.router, descriptions.router, session_routes.router, saved_query_routes.router),
        # Before the ingests by id: `summary` is not an id.
        *(ingest_history.router, ingest.router, streams.router),
        *(
            pruning.router,
            advice.router,
            trials.router,
            table_routes.router,
            maintenance.router,
            filters.router,
        ),
        *(cache_routes.router, audit_routes.router, replicas.router, health.router, metrics.router),
    )
]
_OF_CONSOLE = [_as_route(router) for router in (pages.router, login.router, issuer_login.router)]
_OF_KEYS = [_as_route(api_keys.router)]
_OF_POLICIES = [_as_route(policies.router)]


def include_routes(app: FastAPI, settings: Settings) -> None:
    """Adds the routes that these settings serve."""
    app.router.routes.extend(_ALWAYS)
    if settings.console:
        app.router.routes.extend(_OF_CONSOLE)
    if settings.api_keys:
        app.router.routes.extend(_OF_KEYS)
    if settings.has_authentication:
        # Otherwise nobody is an administrator.
        app.router.routes.extend(_OF_POLICIES)
