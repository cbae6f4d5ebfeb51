"""Answers DoPut: values for prepared statements, and statements that return no rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow.flight as flight

from api.flight.calls.served import Served
from api.flight.statements.bound_parameters import parameters_of
from api.flight.statements.flight_queries import Queries, Values
from api.flight.statements.prepared import Prepared, PreparedStatements
from api.flight.wire.flight_errors import FlightMessageInvalid, FlightNotSupported
from api.flight.wire.messages import name_of, new
from service.model.query.query import Parameter

_NO_RECORDS = 0
"""Never -1, which means unknown: the JDBC driver would take it for rows, and run the text twice."""
COMMANDS = (
    "CommandPreparedStatementQuery",
    "CommandPreparedStatementUpdate",
    "CommandStatementUpdate",
)


class Puts:
    """Answers calls that put something. Any thread may call any method."""

    def __init__(self, queries: Queries, prepared: PreparedStatements, max_bytes: int) -> None:
        self._queries = queries
        self._prepared = prepared
        self._max_bytes = max_bytes
        self._answers: Mapping[str, Callable[[Served, Any, flight.MetadataRecordBatchReader], Any]] = {
            "CommandPreparedStatementQuery": self._bind,
            "CommandPreparedStatementUpdate": self._update_prepared,
            "CommandStatementUpdate": self._update,
        }

    def answer(self, served: Served, command: Any, reader: flight.MetadataRecordBatchReader) -> bytes:
        """Returns the bytes of the answer.

        Raises:
            FlightNotSupported: nothing of this kind can be put.
            GatewayError, StatementFailed: it could not be done.
        """
        answer = self._answers.get(name_of(command))
        if answer is None:
            raise FlightNotSupported
        return bytes(answer(served, command, reader).SerializeToString())

    def _bind(self, served: Served, command: Any, reader: flight.MetadataRecordBatchReader) -> Any:
        handle = command.prepared_statement_handle
        prepared = self._prepared.find(served.caller.name, handle)
        self._keep(served, prepared, self._values(served, reader))
        return new("DoPutPreparedStatementResult", prepared_statement_handle=handle)

    def _update_prepared(self, served: Served, command: Any, reader: flight.MetadataRecordBatchReader) -> Any:
        prepared = self._prepared.find(served.caller.name, command.prepared_statement_handle)
        sent = self._values(served, reader)
        if sent:
            self._keep(served, prepared, sent)
        self._queries.update(served, prepared.sql, prepared.bound_shape, values_of(prepared))
        return new("DoPutUpdateResult", record_count=_NO_RECORDS)

    def _update(self, served: Served, command: Any, _: flight.MetadataRecordBatchReader) -> Any:
        self._queries.update(served, command.query, None)
        return new("DoPutUpdateResult", record_count=_NO_RECORDS)

    def _keep(self, served: Served, prepared: Prepared, values: tuple[Parameter, ...]) -> None:
        """Binds the values. Those of other types than the text's own may change what it returns."""
        types = tuple(parameter.type_name for parameter in values)
        if None not in types and types == prepared.shape.types:
            prepared.bound = None
        elif prepared.bound is None or prepared.bound[0] != types:
            sent = Values(prepared.shape.parameters.names, values)
            prepared.bound = types, self._queries.shape(served, prepared.sql, sent)
        prepared.values = values

    def _values(self, served: Served, reader: flight.MetadataRecordBatchReader) -> tuple[Parameter, ...]:
        """Returns the values that a client sends; none if it sends no rows."""
        found: tuple[Parameter, ...] = ()
        size = rows = 0
        with served.call.waiting():
            for chunk in reader:
                if chunk.data is None or chunk.data.num_rows == 0:
                    continue
                size, rows = size + chunk.data.nbytes, rows + chunk.data.num_rows
                if size > self._max_bytes:
                    raise FlightMessageInvalid(f"The values have more than {self._max_bytes} bytes.")
                if rows > 1:
                    raise FlightNotSupported(
                        "A statement takes one row of values. Send the others one by one."
                    )
                found = parameters_of(chunk.data)
        return found


def values_of(prepared: Prepared) -> Values:
    """Returns the values that were bound last."""
    return Values(prepared.shape.parameters.names, prepared.values)
