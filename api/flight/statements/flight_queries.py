"""Runs statements: answers at once with where the rows will be, and streams them from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import pyarrow as pa
import pyarrow.flight as flight

from api.flight.calls.expiring import Expiring, ExpiryBounds
from api.flight.calls.flight_metrics import FlightMetrics
from api.flight.calls.served import Served
from api.flight.statements.client_sessions import ClientSessions
from api.flight.statements.result_streams import arrow_zone, batches_of, told_schema
from api.flight.statements.statement_shapes import Shape, Shapes, StatementKind, kind_of
from api.flight.wire.flight_errors import FlightBusy, FlightHandleUnknown, FlightNotSupported
from api.flight.wire.jdbc_schemas import parameters_for_jdbc
from api.flight.wire.messages import new, packed
from api.flight.wire.statement_failures import StatementFailed, shielded_stream
from api.sql_protocols.running_statement import RunningStatement
from api.sql_protocols.statement_runs import StatementRequest, Statements
from service.errors.query_errors import QueryCanceled
from service.gateway import Gateway
from service.model.query.query import Parameter, Parameters
from service.ports.clock import Clock

POLL_S = 0.25
"""How often it is asked whether the client is still there, while a statement runs."""


@dataclass(frozen=True, slots=True)
class Execution:
    """A statement that runs or has run, in the schema that its client knows."""

    running: RunningStatement
    schema: pa.Schema
    zone: str | None


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one execution, in the order of the text's parameters, whose names come with the shape."""

    names: Sequence[str] = ()
    values: tuple[Parameter, ...] = ()

    def parameters(self) -> Parameters:
        """Returns them as the gateway takes them: by position, or by name where the text has names."""
        if not self.names or self.names[0].isdigit() or len(self.names) != len(self.values):
            return self.values
        return dict(zip(self.names, self.values, strict=True))


NO_VALUES = Values()


class Queries:
    """Starts statements and streams their rows. Any thread may call any method.

    Args:
        gateway: returns the gateway.
        statements: runs and describes statements.
        sessions: the sessions of clients.
        executions: how many statements are known by their tickets, and for how long.
        clock: the time.
        metrics: counts the bytes of rows.
    """

    def __init__(
        self,
        gateway: Callable[[], Gateway],
        statements: Statements,
        sessions: ClientSessions,
        executions: ExpiryBounds,
        clock: Clock,
        metrics: FlightMetrics,
    ) -> None:
        self._gateway = gateway
        self._statements = statements
        self._sessions = sessions
        self._executions: Expiring[UUID, Execution] = Expiring(
            executions, clock, FlightBusy, drops_oldest=True
        )
        self._metrics = metrics
        self._shapes = Shapes(statements, ended)

    def shape(self, served: Served, sql: str, values: Values = NO_VALUES) -> Shape:
        """Returns what a statement returns.

        Raises:
            GatewayError: the statement could not be run.
        """
        return self._shapes.of(served.caller, self._request(served, sql, values), served.is_gone)

    def shown(self, served: Served, columns: pa.Schema) -> pa.Schema:
        """Returns the columns as this client gets them."""
        return told_schema(columns, self._zone(served))

    def bindable(self, served: Served, parameters: pa.Schema) -> pa.Schema:
        """Returns the parameters as this client is to bind them."""
        return parameters_for_jdbc(parameters) if served.is_jdbc else parameters

    def start(
        self,
        served: Served,
        descriptor: flight.FlightDescriptor,
        sql: str,
        shape: Shape,
        values: Values = NO_VALUES,
    ) -> flight.FlightInfo:
        """Starts a statement, and returns where its rows will be, without waiting for them.

        Raises:
            GatewayError: it was not accepted.
        """
        running = self._started(served, sql, values)
        columns = shape.columns
        if not shape.is_exact:
            ended(running, served.is_gone)
            columns = running.schema()
        zone = self._zone(served)
        execution = Execution(running, told_schema(columns, zone), zone)
        with suppress(FlightBusy):
            # Without it, the columns are known once the statement has ended.
            self._executions.add(running.query_id, served.caller.name, execution)
        handle = str(running.query_id).encode()
        ticket = packed(new("TicketStatementQuery", statement_handle=handle))
        endpoint = flight.FlightEndpoint(ticket, [])
        return flight.FlightInfo(
            execution.schema, descriptor, [endpoint], -1, -1, ordered=True, app_metadata=handle
        )

    def stream(self, served: Served, handle: bytes) -> flight.FlightDataStream:
        """Returns the rows of a statement as they lie, which may still run.

        Raises:
            FlightHandleUnknown: it is not a handle.
        """
        query_id = query_id_of(handle)
        served.call.query_id = str(query_id)
        found = self._executions.find(query_id, served.caller.name) or self._found(served, query_id)
        rows = shielded_stream(self._batches(served, found))
        return flight.GeneratorStream(found.schema, rows)

    def update(self, served: Served, sql: str, shape: Shape | None, values: Values = NO_VALUES) -> None:
        """Runs a statement that returns no rows, to its end.

        Raises:
            FlightNotSupported: it returns rows.
            GatewayError: it was not accepted.
            StatementFailed: it failed.
        """
        has_rows = kind_of(sql) is StatementKind.SHOWING
        if kind_of(sql) is StatementKind.QUERY:
            has_rows = bool((shape or self.shape(served, sql)).columns)
        if has_rows:
            raise FlightNotSupported("This statement returns rows. Send it as a query, not as an update.")
        ended(self._started(served, sql, values), served.is_gone)

    def cancel(self, served: Served, handle: bytes) -> None:
        """Asks a statement to end. Does nothing if it has ended, or is not known any more."""
        query_id = query_id_of(handle)
        served.call.query_id = str(query_id)
        self._running(served, query_id).cancel()

    def _started(self, served: Served, sql: str, values: Values) -> RunningStatement:
        running = self._statements.start(served.caller, self._request(served, sql, values))
        served.call.query_id = str(running.query_id)
        return running

    def _request(self, served: Served, sql: str, values: Values) -> StatementRequest:
        session_id = self._sessions.for_statement(served, sql)
        return StatementRequest(sql=sql, session_id=session_id, parameters=values.parameters())

    def _zone(self, served: Served) -> str | None:
        return arrow_zone(self._sessions.zone(served)) if served.is_jdbc else None

    def _running(self, served: Served, query_id: UUID) -> RunningStatement:
        return RunningStatement(self._gateway, served.caller.name, query_id, query_id)

    def _found(self, served: Served, query_id: UUID) -> Execution:
        """Returns a statement that another replica started, or one whose columns are forgotten."""
        running = self._running(served, query_id)
        ended(running, served.is_gone)
        zone = self._zone(served)
        return Execution(running, told_schema(running.schema(), zone), zone)

    def _batches(self, served: Served, execution: Execution) -> Iterator[pa.RecordBatch]:
        ended(execution.running, served.is_gone)
        for rows in execution.running.chunks():
            # The statement may have run for long, and the client may read slowly.
            served.check_again()
            for batch in served.call.read_by_client(batches_of(rows, execution.schema, execution.zone)):
                self._metrics.sent(batch.nbytes)
                yield batch


def ended(running: RunningStatement, is_gone: Callable[[], bool]) -> None:
    """Waits for a statement. One whose client is gone is canceled.

    Raises:
        QueryCanceled: the client is gone.
        StatementFailed: the statement ended without a result.
    """
    while not running.wait(POLL_S):
        if is_gone():
            running.cancel()
            raise QueryCanceled
    failure = running.status().failure
    if failure is not None:
        raise StatementFailed(failure)


def query_id_of(handle: bytes) -> UUID:
    """Returns the query of a ticket.

    Raises:
        FlightHandleUnknown: it is not a handle.
    """
    try:
        return UUID(handle.decode())
    except ValueError:
        raise FlightHandleUnknown from None
