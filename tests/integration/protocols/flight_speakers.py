"""A client of Arrow Flight SQL that sends any message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import pyarrow as pa
import pyarrow.flight as flight

from api.flight.wire.messages import new, packed
from tests.integration.protocols.conftest import Caller


class FlightSpeaker:
    """Calls with the caller's token, or with other headers."""

    def __init__(self, caller: Caller) -> None:
        self.client = flight.connect(f"grpc://127.0.0.1:{caller.place.flight_port}")
        self._headers = [(b"authorization", f"Bearer {caller.token}".encode())] if caller.token else []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def options(self, *more: tuple[bytes, bytes]) -> flight.FlightCallOptions:
        return flight.FlightCallOptions(timeout=90, headers=[*self._headers, *more])

    def run(self, sql: str) -> str:
        """Returns what a statement fails with; empty if it has rows."""
        return failure(lambda: self.rows(sql))

    def rows(self, sql: str, *headers: tuple[bytes, bytes]) -> pa.Table:
        return self.client.do_get(self.ticket(sql, *headers), self.options(*headers)).read_all()

    def ticket(self, sql: str, *headers: tuple[bytes, bytes]) -> flight.Ticket:
        info = self.client.get_flight_info(
            command("CommandStatementQuery", query=sql), self.options(*headers)
        )
        [endpoint] = info.endpoints
        return endpoint.ticket

    def get(self, ticket: bytes) -> pa.Table:
        return self.client.do_get(flight.Ticket(ticket), self.options()).read_all()

    def rows_of(self, asked: flight.FlightDescriptor) -> list[Any]:
        """Returns the values of the first column of a command's rows."""
        [endpoint] = self.client.get_flight_info(asked, self.options()).endpoints
        found: list[Any] = self.get(endpoint.ticket.ticket).column(0).to_pylist()
        return found

    def action(self, kind: str, body: bytes, *headers: tuple[bytes, bytes]) -> list[bytes]:
        results = self.client.do_action(flight.Action(kind, body), self.options(*headers))
        return [result.body.to_pybytes() for result in results]

    def put(self, asked: flight.FlightDescriptor, rows: pa.Table | None = None) -> bytes:
        """Puts rows, and returns what is answered."""
        sent = pa.table({}) if rows is None else rows
        writer, reader = self.client.do_put(asked, sent.schema, self.options())
        with writer:
            if sent.num_rows:
                writer.write_table(sent)
            writer.done_writing()
            answered = reader.read()
            return b"" if answered is None else bytes(answered.to_pybytes())


def command(name: str, **values: Any) -> flight.FlightDescriptor:
    return flight.FlightDescriptor.for_command(packed(new(name, **values)))


def failure(call: Callable[[], object]) -> str:
    """Returns what a call fails with; empty if it does not."""
    try:
        call()
    except (flight.FlightError, pa.ArrowException) as error:
        return str(error)
    return ""
