"""The routers of all resources, in the order in which requests are matched against them."""

from __future__ import annotations

from fastapi import FastAPI

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
from api.http.routes.tables import advice, maintenance, pruning, table_routes


def include_routes(app: FastAPI, settings: Settings) -> None:
    """Adds the routes that these settings serve."""
    # Before the router for JSON, which takes every content type, and rejects all but JSON.
    app.include_router(ingest.records_router)
    # Routes are tried one after the other, and most requests are for these.
    app.include_router(ingest.json_router)
    for routes in (
        *(query, query_list, chunks, downloads, query_events, explain, descriptions),
        *(session_routes, saved_query_routes),
        # Before the ingests by id: `summary` is not an id.
        *(ingest_history, ingest, streams),
        *(pruning, advice, table_routes, maintenance, filters, cache_routes, audit_routes, replicas),
        *(health, metrics),
    ):
        app.include_router(routes.router)
    if settings.console:
        app.include_router(pages.router)
        app.include_router(login.router)
        app.include_router(issuer_login.router)
    if settings.api_keys:
        app.include_router(api_keys.router)
    if settings.has_authentication:
        # Otherwise nobody is an administrator.
        app.include_router(policies.router)
