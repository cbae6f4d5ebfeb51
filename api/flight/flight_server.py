"""The server that gRPC calls: finds the caller and the command of each call, and hands it on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow.flight as flight
import structlog

from api.flight.calls.flight_calls import MIDDLEWARE, CallFactory, FlightCall, NoHandshake
from api.flight.calls.identified_callers import Callers
from api.flight.calls.served import Served
from api.flight.metadata.answer_schemas import METADATA
from api.flight.metadata.metadata_commands import Metadata
from api.flight.statements.client_actions import DESCRIPTIONS, Actions
from api.flight.statements.flight_queries import Queries
from api.flight.statements.prepared import PreparedStatements
from api.flight.statements.puts import COMMANDS as PUT
from api.flight.statements.puts import Puts, values_of
from api.flight.wire.flight_errors import FlightMessageInvalid, FlightNotSupported
from api.flight.wire.messages import name_of, unpacked
from api.flight.wire.statement_failures import shielded, shielded_schema

_QUERY, _PREPARED = "CommandStatementQuery", "CommandPreparedStatementQuery"
_ASKED = (_QUERY, _PREPARED, *METADATA)
_TICKET = "TicketStatementQuery"


@dataclass(frozen=True, slots=True)
class Handlers:
    """Those who answer commands, and how large a command may be."""

    callers: Callers
    queries: Queries
    prepared: PreparedStatements
    metadata: Metadata
    actions: Actions
    puts: Puts
    max_message_bytes: int


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens, with its certificates and their keys; none: in plain text."""

    location: str
    certificates: tuple[tuple[bytes, bytes], ...] = ()


class FlightSqlServer(flight.FlightServerBase):  # type: ignore[misc]
    """Serves as soon as it is made. gRPC has a thread for each call."""

    def __init__(self, address: Address, handlers: Handlers, calls: CallFactory) -> None:
        self._handlers = handlers
        self._calls = calls
        self._stopping = threading.Event()
        super().__init__(
            address.location,
            auth_handler=NoHandshake(),
            tls_certificates=list(address.certificates) or None,
            middleware={MIDDLEWARE: calls},
        )

    def refuse(self) -> None:
        """Begins no more calls, and asks those that wait to end."""
        self._calls.is_closed = True
        self._stopping.set()

    @shielded
    def get_flight_info(self, context: Any, descriptor: Any) -> flight.FlightInfo:
        """Returns at once where the rows of a command will be."""
        with self._served(context) as served:
            command = self._command(served, descriptor)
            if name_of(command) == _QUERY:
                shape = self._handlers.queries.shape(served, command.query)
                return self._handlers.queries.start(served, descriptor, command.query, shape)
            if name_of(command) == _PREPARED:
                known = self._handlers.prepared.find(served.caller.name, command.prepared_statement_handle)
                return self._handlers.queries.start(
                    served, descriptor, known.sql, known.bound_shape, values_of(known)
                )
            endpoint = flight.FlightEndpoint(descriptor.command, [])
            return flight.FlightInfo(
                self._handlers.metadata.schema(command), descriptor, [endpoint], -1, -1, ordered=True
            )

    @shielded_schema
    def get_schema(self, context: Any, descriptor: Any) -> flight.SchemaResult:
        """Returns the columns of a command's rows. Runs no query."""
        with self._served(context) as served:
            command = self._command(served, descriptor)
            queries = self._handlers.queries
            if name_of(command) == _QUERY:
                columns = queries.shape(served, command.query).columns
                return flight.SchemaResult(queries.shown(served, columns))
            if name_of(command) == _PREPARED:
                known = self._handlers.prepared.find(served.caller.name, command.prepared_statement_handle)
                return flight.SchemaResult(queries.shown(served, known.bound_shape.columns))
            return flight.SchemaResult(self._handlers.metadata.schema(command))

    @shielded
    def do_get(self, context: Any, ticket: Any) -> flight.FlightDataStream:
        """Streams the rows of a statement, or a metadata command's answer."""
        with self._served(context) as served:
            command = self._unpacked(served, ticket.ticket, (_TICKET, *METADATA))
            if name_of(command) == _TICKET:
                return self._handlers.queries.stream(served, command.statement_handle)
            answer = self._handlers.metadata.answer(served, command)
            return flight.GeneratorStream(answer.schema, served.call.read_by_client(answer.to_batches()))

    @shielded
    def do_put(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        """Takes values of a prepared statement, or runs a statement that returns no rows."""
        with self._served(context) as served:
            command = self._unpacked(served, self._body(descriptor), PUT)
            writer.write(self._handlers.puts.answer(served, command, reader))

    @shielded
    def do_action(self, context: Any, action: Any) -> list[flight.Result]:
        """Answers an action."""
        with self._served(context) as served:
            served.call.command = action.type if action.type in DESCRIPTIONS else None
            body = action.body.to_pybytes()
            self._check_size(body)
            return self._handlers.actions.answer(served, action.type, body)

    @shielded
    def list_actions(self, context: Any) -> list[tuple[str, str]]:
        """Returns all actions with what they do."""
        with self._served(context):
            return list(DESCRIPTIONS.items())

    @shielded
    def list_flights(self, context: Any, criteria: bytes) -> list[flight.FlightInfo]:  # noqa: ARG002
        """Returns nothing: Arrow Flight SQL lists tables by a command."""
        with self._served(context):
            return []

    @shielded
    def do_exchange(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:  # noqa: ARG002
        """Refuses: Arrow Flight SQL does not use it."""
        with self._served(context):
            raise FlightNotSupported

    @contextmanager
    def _served(self, context: Any) -> Iterator[Served]:
        call: FlightCall = context.get_middleware(MIDDLEWARE)
        structlog.contextvars.clear_contextvars()
        known = self._handlers.callers.find(call.head, context.peer())
        call.name(known.caller.name)
        call.connected(context.peer())
        structlog.contextvars.bind_contextvars(caller=known.caller.name, protocol="flight")

        def is_gone() -> bool:
            return self._stopping.is_set() or bool(context.is_cancelled())

        def check_again() -> None:
            self._handlers.callers.check_again(known, context.peer())

        try:
            yield Served(known, call, is_gone, context.add_header, check_again)
        finally:
            structlog.contextvars.clear_contextvars()

    def _command(self, served: Served, descriptor: Any) -> Any:
        return self._unpacked(served, self._body(descriptor), _ASKED)

    def _unpacked(self, served: Served, data: bytes, expected: tuple[str, ...]) -> Any:
        self._check_size(data)
        command = unpacked(data, expected)
        served.call.command = name_of(command)
        return command

    def _body(self, descriptor: Any) -> bytes:
        if descriptor.descriptor_type is not flight.DescriptorType.CMD:
            raise FlightMessageInvalid("Arrow Flight SQL takes commands, and no paths.")
        return bytes(descriptor.command)

    def _check_size(self, data: bytes) -> None:
        if len(data) > self._handlers.max_message_bytes:
            raise FlightMessageInvalid(f"The message has more than {self._handlers.max_message_bytes} bytes.")
