"""The open operations of all clients: statements, and metadata that is there at once."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pyarrow as pa

from api.hive_server.calls.protocol_numbers import OperationType
from api.hive_server.calls.session_handles import SessionHandle
from api.hive_server.rows.kept_chunks import ChunkPlace
from api.hive_server.rows.result_rows import ResultRows
from api.sql_protocols.running_statement import RunningStatement
from service.errors.query_errors import QueryNotFound, TooManyQueries
from service.ports.clock import Clock

Projection = Callable[[pa.Table], pa.Table]
"""Changes the columns of a result for clients that cannot read others."""


@dataclass(slots=True)
class Operation:
    """An operation of a caller's session. `statement` is None if its rows were there at once.

    `rows` is set once the result is known, and `is_counted` once the end was counted. One call at a time may
    read: it holds `reading`. `place` is that of the chunk that is being read, if rows are not there at once.
    """

    operation_id: UUID
    caller: str
    session: SessionHandle
    type: OperationType
    statement: RunningStatement | None = None
    rows: ResultRows | None = None
    projection: Projection | None = None
    place: ChunkPlace | None = None
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    used_ms: int = 0
    log_lines: list[str] = field(default_factory=list)
    is_counted: bool = False
    is_waited_for: bool = False

    def handle(self) -> dict[str, Any]:
        """Returns the fields of its handle. Each has rows: a statement without columns has one without."""
        operation_id = {"guid": self.operation_id.bytes, "secret": self.secret}
        return {"operationId": operation_id, "operationType": self.type, "hasResultSet": True}

    def give_back(self) -> None:
        """Gives back the memory of the chunk that was being read. Called once it is forgotten."""
        if self.place is not None:
            self.place.close()


class Operations:
    """All open operations. Its methods must be called on the event loop's thread."""

    def __init__(self, clock: Clock, max_per_session: int, max_operations: int) -> None:
        self._clock = clock
        self._max_per_session = max_per_session
        self._max_operations = max_operations
        self._open: dict[UUID, Operation] = {}
        self._of_session: dict[UUID, dict[UUID, Operation]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def check_room(self, session_id: UUID) -> None:
        """Checks that a session may have one more operation.

        Raises:
            TooManyQueries: it may not, or there are too many in all.
        """
        if len(self._of_session.get(session_id, ())) >= self._max_per_session:
            raise TooManyQueries(f"This session has {self._max_per_session} open operations: close some.")
        if len(self._open) >= self._max_operations:
            raise TooManyQueries

    def add(self, operation: Operation) -> Operation:
        """Keeps an operation until it is closed, or not used for long."""
        operation.used_ms = self._clock.elapsed_ms()
        self._open[operation.operation_id] = operation
        self._of_session.setdefault(operation.session.session_id, {})[operation.operation_id] = operation
        return operation

    def find(self, request: Mapping[str, Any], caller: str) -> Operation:
        """Returns the operation whose handle a request has.

        Raises:
            QueryNotFound: this caller has no such operation.
        """
        found = request.get("operationHandle", {}).get("operationId", {})
        guid, secret = found.get("guid", b""), found.get("secret", b"")
        operation = self._open.get(UUID(bytes=guid)) if len(guid) == 16 else None
        if operation is None or operation.caller != caller:
            raise QueryNotFound("There is no open operation with this handle.")
        if not hmac.compare_digest(secret, operation.secret):
            raise QueryNotFound("There is no open operation with this handle.")
        operation.used_ms = self._clock.elapsed_ms()
        return operation

    def remove(self, operation: Operation) -> None:
        """Forgets an operation."""
        operation.give_back()
        self._open.pop(operation.operation_id, None)
        of_session = self._of_session.get(operation.session.session_id, {})
        of_session.pop(operation.operation_id, None)
        if not of_session:
            self._of_session.pop(operation.session.session_id, None)

    def take_session(self, session_id: UUID, caller: str) -> Sequence[Operation]:
        """Forgets the operations of a caller's own session, and returns them."""
        found = self._of_session.get(session_id, {}).values()
        taken = [operation for operation in found if operation.caller == caller]
        for operation in taken:
            self.remove(operation)
        return taken

    def take_unused(self, idle_s: float) -> Sequence[Operation]:
        """Forgets the operations that nobody asked for in this time, and returns them."""
        until_ms = self._clock.elapsed_ms() - idle_s * 1000
        taken = [
            operation
            for operation in self._open.values()
            if operation.used_ms <= until_ms and not operation.is_waited_for
        ]
        for operation in taken:
            self.remove(operation)
        return taken

    def take_all(self) -> Sequence[Operation]:
        """Forgets all operations, and returns them."""
        taken = list(self._open.values())
        for operation in taken:
            operation.give_back()
        self._open.clear()
        self._of_session.clear()
        return taken
