"""The actions of clients: prepare and close statements, cancel queries, and the options of sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight

from api.flight.calls.served import Served
from api.flight.statements.client_sessions import ClientSessions
from api.flight.statements.flight_queries import Queries
from api.flight.statements.prepared import Prepared, PreparedStatements
from api.flight.wire.flight_errors import FlightMessageInvalid, FlightNotSupported
from api.flight.wire.messages import ONE_OF, new, packed, parsed, unpacked

CANCELLED = CLOSED = 1
"""Results of a cancel, and of the end of a session."""
DESCRIPTIONS: Mapping[str, str] = {
    "CreatePreparedStatement": "Prepares a statement: its columns and the types of its parameters.",
    "ClosePreparedStatement": "Forgets a prepared statement.",
    "CancelFlightInfo": "Cancels the query of a FlightInfo.",
    "CancelQuery": "Cancels the query of a FlightInfo.",
    "SetSessionOptions": "Sets the catalog, the schema, or settings of the session.",
    "GetSessionOptions": "Returns the catalog, the schema, and the settings that were set.",
    "CloseSession": "Ends the session.",
}


class Actions:
    """Answers actions. Any thread may call any method."""

    def __init__(self, queries: Queries, prepared: PreparedStatements, sessions: ClientSessions) -> None:
        self._queries = queries
        self._prepared = prepared
        self._sessions = sessions
        self._answers: Mapping[str, Callable[[Served, bytes], bytes | None]] = {
            "CreatePreparedStatement": self._prepare,
            "ClosePreparedStatement": self._close_prepared,
            "CancelFlightInfo": self._cancel_flight_info,
            "CancelQuery": self._cancel_query,
            "SetSessionOptions": self._set_options,
            "GetSessionOptions": self._options,
            "CloseSession": self._close_session,
        }

    def answer(self, served: Served, kind: str, body: bytes) -> list[flight.Result]:
        """Returns the results of an action.

        Raises:
            FlightNotSupported: there is no such action here.
            FlightMessageInvalid: the body is not the action's message.
            GatewayError: it could not be done.
        """
        answer = self._answers.get(kind)
        if answer is None:
            raise FlightNotSupported(f"This gateway does not offer the action {kind[:100]}.")
        result = answer(served, body)
        return [] if result is None else [flight.Result(result)]

    def _prepare(self, served: Served, body: bytes) -> bytes:
        sql = str(unpacked(body, ["ActionCreatePreparedStatementRequest"]).query)
        shape = self._queries.shape(served, sql)
        handle = self._prepared.add(served.caller.name, Prepared(sql, shape))
        columns = self._queries.shown(served, shape.columns)
        result = new(
            "ActionCreatePreparedStatementResult",
            prepared_statement_handle=handle,
            dataset_schema=_serialized(columns),
            parameter_schema=_serialized(self._queries.bindable(served, shape.parameters)),
        )
        return packed(result)

    def _close_prepared(self, served: Served, body: bytes) -> None:
        asked = unpacked(body, ["ActionClosePreparedStatementRequest"])
        self._prepared.close(served.caller.name, asked.prepared_statement_handle)

    def _cancel_flight_info(self, served: Served, body: bytes) -> bytes:
        self._cancel(served, parsed("CancelFlightInfoRequest", body).info)
        return bytes(new("CancelFlightInfoResult", status=CANCELLED).SerializeToString())

    def _cancel_query(self, served: Served, body: bytes) -> bytes:
        self._cancel(served, unpacked(body, ["ActionCancelQueryRequest"]).info)
        return packed(new("ActionCancelQueryResult", result=CANCELLED))

    def _cancel(self, served: Served, info: bytes) -> None:
        for ticket in tickets_of(info):
            self._queries.cancel(served, unpacked(ticket, ["TicketStatementQuery"]).statement_handle)

    def _set_options(self, served: Served, body: bytes) -> bytes:
        sent = parsed("SetSessionOptionsRequest", body).session_options
        faults = self._sessions.set_options(served, {option.key: _text(option.value) for option in sent})
        entries = [{"key": name, "value": {"value": fault}} for name, fault in faults.items()]
        return bytes(new("SetSessionOptionsResult", errors=entries).SerializeToString())

    def _options(self, served: Served, body: bytes) -> bytes:
        parsed("GetSessionOptionsRequest", body)
        options = self._sessions.options(served)
        entries = [{"key": name, "value": {"string_value": value}} for name, value in options.items()]
        return bytes(new("GetSessionOptionsResult", session_options=entries).SerializeToString())

    def _close_session(self, served: Served, body: bytes) -> bytes:
        parsed("CloseSessionRequest", body)
        self._sessions.close(served)
        return bytes(new("CloseSessionResult", status=CLOSED).SerializeToString())


def tickets_of(info: bytes) -> list[bytes]:
    """Returns the tickets in the bytes of a `FlightInfo`.

    Raises:
        FlightMessageInvalid: they are not such bytes.
    """
    try:
        read = flight.FlightInfo.deserialize(info)
        return [endpoint.ticket.ticket for endpoint in read.endpoints]
    except (pa.ArrowException, ValueError, TypeError):
        raise FlightMessageInvalid("The bytes are not a FlightInfo.") from None


def _text(value: Any) -> str | None:
    """Returns the value of an option as a setting's text. None: it has no value, or a list."""
    kind = value.WhichOneof(ONE_OF)
    if kind in (None, "string_list_value"):
        return None
    found = getattr(value, kind)
    return str(found).lower() if isinstance(found, bool) else str(found)


def _serialized(schema: pa.Schema) -> bytes:
    """Returns the bytes of a schema; none without columns: drivers take the statement for an update then."""
    return bytes(schema.serialize().to_pybytes()) if len(schema) else b""
