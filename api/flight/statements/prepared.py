"""Prepared statements: texts that clients refer to by a handle, with the values that they bound."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from api.flight.calls.expiring import Expiring, ExpiryBounds
from api.flight.statements.statement_shapes import Shape
from api.flight.wire.flight_errors import FlightHandleUnknown, TooManyPreparedStatements
from service.model.query.query import Parameter
from service.ports.clock import Clock

_HANDLE_BYTES = 18


@dataclass(slots=True)
class Prepared:
    """A text, what it returns, and the values that were bound last.

    `bound` is what it returns with values of the types that were bound last.
    """

    sql: str
    shape: Shape
    values: tuple[Parameter, ...] = ()
    bound: tuple[tuple[str | None, ...], Shape] | None = None

    @property
    def bound_shape(self) -> Shape:
        """The columns that it returns if it is run now."""
        return self.shape if self.bound is None else self.bound[1]


class PreparedStatements:
    """The prepared statements of all clients. A handle is of use to its caller alone."""

    def __init__(self, bounds: ExpiryBounds, clock: Clock) -> None:
        self._prepared: Expiring[bytes, Prepared] = Expiring(bounds, clock, TooManyPreparedStatements)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._prepared)

    def add(self, caller: str, prepared: Prepared) -> bytes:
        """Keeps a statement, and returns its handle.

        Raises:
            TooManyPreparedStatements: the caller has as many as it may have, or all have together.
        """
        handle = secrets.token_urlsafe(_HANDLE_BYTES).encode()
        self._prepared.add(handle, caller, prepared)
        return handle

    def find(self, caller: str, handle: bytes) -> Prepared:
        """Returns the statement, which lasts from now on.

        Raises:
            FlightHandleUnknown: this caller has no such statement.
        """
        found = self._prepared.find(handle, caller)
        if found is None:
            raise FlightHandleUnknown
        return found

    def close(self, caller: str, handle: bytes) -> None:
        """Forgets the statement. Does nothing if there is none."""
        self._prepared.remove(handle, caller)
