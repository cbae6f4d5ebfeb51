"""One call with its caller, as the handlers of commands get it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from api.flight.calls.flight_calls import FlightCall
from api.flight.calls.identified_callers import KnownCall
from api.flight.wire.without_zones import is_jdbc
from api.sql_protocols.login import ProtocolCaller


@dataclass(frozen=True, slots=True)
class Served:
    """A call: who calls, whether the client is still there, and how it is answered.

    `add_header` sets a header of the answer, before its first message. `check_again` authenticates again, for
    an answer that takes long: it raises as `Callers.find` does.
    """

    known: KnownCall
    call: FlightCall
    is_gone: Callable[[], bool]
    add_header: Callable[[str, str], None]
    check_again: Callable[[], None]

    @property
    def caller(self) -> ProtocolCaller:
        """Who calls."""
        return self.known.caller

    @property
    def is_jdbc(self) -> bool:
        """Whether the client reads through the JDBC driver."""
        return is_jdbc(self.known.head.user_agent)
