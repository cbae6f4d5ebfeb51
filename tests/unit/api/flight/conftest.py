"""A real server of Arrow Flight SQL on loopback, over a gateway in memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from api.bootstrap.settings import Settings
from api.flight.metadata.table_columns import sql_name
from api.flight.server_lifespan import FlightListener
from api.flight.wire.messages import new, packed, unpacked
from api.http.app import create_app
from api.http.protocol_servers import ProtocolEdge
from service.errors.gateway_error import CannotStart
from service.model.policies.decisions import Access
from service.model.query.description import Description
from service.model.query.query import QueryRequest
from service.model.query.results import Column
from service.ports.clock import Clock
from service.query.explaining.planning_service import Planning
from service.query.query_service import Submission
from service.query.registry.query_handle import QueryHandle
from tests.fakes.gateway import FakeGateway
from tests.fakes.queries import NOON, FakeQueries

PATIENCE_S = 30.0
JDBC = "grpc-java-netty/1.71.0"


class ShapedQueries(FakeQueries):
    """Describes each text as its rows are. `shapes` has rows of their own for some texts."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: dict[str, pa.Table] = {}
        self.parameters: tuple[Any, ...] = ()
        self.types: dict[str, str] = {}
        self.raises: BaseException | None = None

    def rows_of(self, request: QueryRequest) -> pa.Table:
        return self.shapes.get(request.sql, self.rows)

    def submit(
        self, request: QueryRequest, caller: str, access: Access, roles: Collection[str] = ()
    ) -> Submission:
        if self.raises is not None:
            raise self.raises
        return super().submit(request, caller, access, roles)

    def describe(self, request: QueryRequest, caller: str, access: Access) -> Planning[Description]:
        if self.raises is not None:
            raise self.raises
        if self.refusal is not None:
            raise self.refusal
        self.described.append(request)
        columns = tuple(
            Column(field.name, self.types.get(field.name) or sql_name(field.type), field.nullable)
            for field in self.rows_of(request).schema
        )
        described = Description(columns, self.parameters)
        handle = QueryHandle(uuid4(), request, caller, access, NOON, 0)
        planning = Planning(handle, lambda _query, _ports: described)
        if f"describe {request.sql}" not in self.unfinished:
            planning.end(self.failures.get(request.sql) or described)
        return planning


@dataclass
class RunningFlight:
    """The server, and its gateway."""

    listener: FlightListener
    gateway: FakeGateway
    queries: ShapedQueries
    loop: asyncio.AbstractEventLoop

    @property
    def location(self) -> str:
        return f"grpc://127.0.0.1:{self.listener.port}"

    def client(self, **options: Any) -> flight.FlightClient:
        return flight.connect(self.location, **options)

    def asked(self) -> list[QueryRequest]:
        return [query.request for query in self.queries.by_id.values()]

    def is_idle(self) -> bool:
        return self.listener.calls == 0


@contextmanager
def flight_of(
    settings: Settings, failures: list[CannotStart] | None = None, clock: Clock | None = None
) -> Iterator[RunningFlight]:
    """Runs the app with its Flight server in a thread of its own. Failures of its start go to the list."""
    gateway = FakeGateway()
    known = ShapedQueries()
    gateway.queries = known
    made: list[FlightListener] = []
    started, ended = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    def factory(edge: ProtocolEdge) -> FlightListener:
        made.append(FlightListener(edge))
        return made[0]

    async def live() -> None:
        app = create_app(
            settings,
            lambda: gateway,
            on_failed_start=None if failures is None else failures.append,
            clock=clock,
            protocols=[factory],
        )
        async with app.router.lifespan_context(app):
            await app.state.app_context.access.opened()
            started.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(live()), daemon=True)
    thread.start()
    assert started.wait(PATIENCE_S)
    try:
        yield RunningFlight(made[0], gateway, known, loop)
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
        loop.close()


def open_settings(**given: Any) -> Settings:
    whole: dict[str, Any] = {"flight_port": 0, "default_schema": "tpcds"} | given
    return Settings(**whole)


@pytest.fixture
def running() -> Iterator[RunningFlight]:
    with flight_of(open_settings()) as made:
        yield made


@pytest.fixture
def client(running: RunningFlight) -> Iterator[flight.FlightClient]:
    with running.client() as made:
        yield made


def command(name: str, **values: Any) -> flight.FlightDescriptor:
    return flight.FlightDescriptor.for_command(packed(new(name, **values)))


def action(client: flight.FlightClient, kind: str, body: bytes, options: Any = None) -> list[bytes]:
    results = client.do_action(flight.Action(kind, body), options)
    return [result.body.to_pybytes() for result in results]


def info_of(client: flight.FlightClient, name: str, options: Any = None, **values: Any) -> flight.FlightInfo:
    return client.get_flight_info(command(name, **values), options)


def rows_of(client: flight.FlightClient, info: flight.FlightInfo, options: Any = None) -> pa.Table:
    [endpoint] = info.endpoints
    return client.do_get(endpoint.ticket, options).read_all()


def answer(client: flight.FlightClient, name: str, options: Any = None, **values: Any) -> pa.Table:
    """Returns what a command answers, in the schema that it announced."""
    info = info_of(client, name, options, **values)
    found = rows_of(client, info, options)
    assert found.schema.equals(info.schema, check_metadata=True)
    return found


def prepared(client: flight.FlightClient, sql: str, options: Any = None) -> Any:
    body = packed(new("ActionCreatePreparedStatementRequest", query=sql))
    [result] = action(client, "CreatePreparedStatement", body, options)
    return unpacked(result)


def bearer(token: str) -> flight.FlightCallOptions:
    return flight.FlightCallOptions(headers=[(b"authorization", f"Bearer {token}".encode())])


def until(probe: Callable[[], Any], within_s: float = PATIENCE_S) -> Any:
    """Polls until the probe returns something true, and returns that."""
    waited = threading.Event()
    for _ in range(round(within_s / 0.02)):
        found = probe()
        if found:
            return found
        waited.wait(0.02)
    raise AssertionError("not in time")
