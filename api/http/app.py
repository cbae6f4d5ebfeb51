"""The app: routes, the layers around them, and the gateway's lifespan. Importing it has no effects."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import structlog
from fastapi import FastAPI
from fastapi_swagger import patch_fastapi

from api.bootstrap.settings import Settings
from api.bootstrap.shown_settings import shown_statement
from api.bootstrap.version import version_of
from api.http.app_context import AppContext
from api.http.auditing.audit_middleware import Auditing
from api.http.authentication.authentication_middleware import Authentication
from api.http.authentication.authenticator import Authenticator, Sent
from api.http.authentication.building import authenticator_of, console_logins_of
from api.http.authentication.console_logins import ConsoleLogins
from api.http.authentication.logins import Logins, NoteFailure
from api.http.authentication.process_clock import ProcessClock
from api.http.bodies.add_body_bounds import add_body_bounds
from api.http.connections.caller_shares import CallerShares, FairShares
from api.http.events.open_streams import OpenStreams
from api.http.gateway_access import AccessBounds, GatewayAccess, GatewayFactory, OnFailedStart
from api.http.include_routes import include_routes
from api.http.middleware.hosts import KnownHosts
from api.http.middleware.process_metrics import ProcessMetrics
from api.http.middleware.request_log import RequestLog
from api.http.middleware.request_metrics import RequestMetrics
from api.http.middleware.security_headers import SecurityHeaders
from api.http.openapi import describe
from api.http.problems.problems import install_problems
from api.http.protocol_servers import ProtocolEdge, ProtocolFactory, ProtocolServer
from api.http.waiting import Waiting
from service.audit.failed_logins import FailedLogin, FailedLogins
from service.errors.credential_errors import CredentialRefused
from service.errors.gateway_error import CannotStart, PartDown
from service.ports.clock import Clock
from service.ports.stores.api_key_store import TokenVerifier
from service.ports.stores.login_issuers import LoginIssuers

_log = structlog.stdlib.get_logger("api.app")


def create_app(
    settings: Settings,
    gateway_factory: GatewayFactory,
    on_failed_start: OnFailedStart | None = None,
    verifier: TokenVerifier | None = None,
    clock: Clock | None = None,
    protocols: Sequence[ProtocolFactory] = (),
    login_issuers: LoginIssuers | None = None,
) -> FastAPI:
    """Creates the app over the gateway that the factory builds.

    Args:
        settings: those of this process.
        gateway_factory: called once, in a thread, when the app starts. Until it returns, `/readyz` says
            STARTING, and all that needs the gateway is a 503.
        on_failed_start: called on the event loop with the error if the factory fails; it has to end the
            process.
        verifier: verifies the access tokens of `oidc_issuers`. Without it, all of them are refused.
        clock: the time by which credentials expire. Without it, the machine's clock counts.
        protocols: make the servers of other protocols, which start and stop with the app.
        login_issuers: log users of the console in. Without them, `console_logins` offers none.
    """
    clock = clock or ProcessClock()
    access = GatewayAccess(gateway_factory, on_failed_start or _log_failed_start, _access_bounds(settings))
    metrics, event_streams = ProcessMetrics(), _event_streams(settings)
    _watch(metrics, access, event_streams, settings)
    authenticator = authenticator_of(settings, access, clock, verifier)
    failed_logins = FailedLogins(clock)
    edge = ProtocolEdge(
        settings=settings,
        access=access,
        logins=Logins(authenticator, metrics.authentication, _note_failure(settings, access, failed_logins)),
        waiting=Waiting(),
        clock=clock,
        shown_statement=shown_statement(settings),
        registry=metrics.registry,
    )
    servers = [factory(edge) for factory in protocols]
    app = _bare_app(settings, access, servers)
    console_logins = console_logins_of(settings, authenticator.issuers, clock, login_issuers)
    app.state.app_context = _app_context(edge, metrics, event_streams, authenticator, console_logins)
    include_routes(app, settings)
    _include_protocols(app, servers, access)
    _serve_docs_page(app)
    install_problems(app)
    _add_layers(app, edge, failed_logins, metrics)
    app.openapi = functools.partial(describe, app, settings)  # type: ignore[method-assign]
    return app


def _bare_app(settings: Settings, access: GatewayAccess, servers: Sequence[ProtocolServer]) -> FastAPI:
    """Returns the app without routes and layers; it starts and stops the gateway and the servers."""
    return FastAPI(
        title="Sluice",
        version=version_of(),
        description="SQL over HTTP for lakehouses, and an explanation of what every scan read.",
        lifespan=functools.partial(
            _life, access=access, servers=servers, is_awaited=settings.listen_when_ready
        ),
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        redirect_slashes=False,
    )


def _watch(
    metrics: ProcessMetrics, access: GatewayAccess, event_streams: OpenStreams, settings: Settings
) -> None:
    metrics.http.watch_lanes(access.lanes)
    metrics.http.watch_event_streams(event_streams.__len__, settings.max_event_streams)


def _add_layers(
    app: FastAPI, edge: ProtocolEdge, failed_logins: FailedLogins, metrics: ProcessMetrics
) -> None:
    """Adds the layers that each request passes on its way to a route."""
    settings, clock = edge.settings, edge.clock
    # The middleware added last is the outermost.
    add_body_bounds(app, settings)
    if settings.has_authentication:
        shares = CallerShares(settings.max_connections, settings.max_connections_per_peer)
        app.add_middleware(FairShares, shares=shares)
    if settings.audit:
        app.add_middleware(Auditing, access=edge.access, clock=clock, failed_logins=failed_logins)
    app.add_middleware(
        Authentication,
        logins=edge.logins,
        clock=clock,
        every_s=settings.authentication_recheck_s,
        has_tls=settings.has_tls,
    )
    app.add_middleware(KnownHosts, settings=settings)
    app.add_middleware(RequestLog)
    app.add_middleware(SecurityHeaders, has_tls=settings.has_tls)
    app.add_middleware(RequestMetrics, http=metrics.http)


def _event_streams(settings: Settings) -> OpenStreams:
    # Without authentication, all callers count as one.
    own = settings.max_event_streams_per_caller if settings.has_authentication else settings.max_event_streams
    return OpenStreams(settings.max_event_streams, own)


def _note_failure(
    settings: Settings, access: GatewayAccess, failed_logins: FailedLogins
) -> NoteFailure | None:
    """Returns the callback that notes failed logins for the audit log; None without an audit log."""

    def note(sent: Sent, error: CredentialRefused) -> None:
        failed_logins.note(FailedLogin(sent.peer, sent.kind, error.code), sent.key_id)
        # While the gateway starts, the failures wait here.
        with suppress(PartDown):
            access.gateway.audit.trail.follow(failed_logins.take)

    return note if settings.audit else None


def _app_context(
    edge: ProtocolEdge,
    metrics: ProcessMetrics,
    event_streams: OpenStreams,
    authenticator: Authenticator,
    console_logins: ConsoleLogins | None,
) -> AppContext:
    return AppContext(
        settings=edge.settings,
        access=edge.access,
        waiting=edge.waiting,
        process_metrics=metrics,
        event_streams=event_streams,
        logins=edge.logins,
        console_logins=console_logins,
        forget_key=authenticator.forget_key,
        forget_session=authenticator.forget_session,
        shown_statement=edge.shown_statement,
    )


def _include_protocols(app: FastAPI, servers: Sequence[ProtocolServer], access: GatewayAccess) -> None:
    for server in servers:
        access.watch(server.health)
        if server.router is not None:
            app.include_router(server.router)


def _serve_docs_page(app: FastAPI) -> None:
    # The package has its own copy of Swagger UI: FastAPI's page loads it from a CDN, which many users cannot
    # reach.
    patch_fastapi(app, redirect_from_root_to_docs=False)


@asynccontextmanager
async def _life(
    _app: FastAPI, access: GatewayAccess, servers: Sequence[ProtocolServer], *, is_awaited: bool
) -> AsyncIterator[None]:
    access.open()
    if is_awaited:
        await access.opened()
    try:
        for server in servers:
            await server.start()
    except CannotStart as error:
        access.fail(error)
    yield
    for server in servers:
        await server.stop()
    await access.close()


def _log_failed_start(error: CannotStart) -> None:
    _log.error("cannot_start", detail=error.detail)


def _access_bounds(settings: Settings) -> AccessBounds:
    return AccessBounds(
        long_calls=settings.ingest_parallel_bodies,
        wait_s=settings.request_max_wait_s,
        long_wait_s=settings.ingest_max_wait_s,
    )
