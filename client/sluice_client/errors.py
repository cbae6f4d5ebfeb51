"""The exceptions of this package, named for what the caller can do about them.

`GatewayError` is the base of the errors that a gateway reports. They have its stable `code`, which
docs/reference/errors.md explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sluice_client.reported_problem import Fault, Problem, problem_text


class SluiceError(Exception):
    """The base of every error that this package raises on purpose."""


class ConnectionFailed(SluiceError):
    """No whole answer arrived: there is no gateway there, or the connection was lost."""

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent
        """Whether the gateway may have received the request."""


class TimedOut(SluiceError):
    """The client's own patience ended, as `Timeouts` says. An ingest goes on; a query was canceled."""

    def __init__(self, message: str, *, query_id: UUID | None = None, ingest_id: UUID | None = None) -> None:
        super().__init__(message)
        self.query_id = query_id
        self.ingest_id = ingest_id


class UnexpectedAnswer(SluiceError):
    """The answer is not one that a gateway gives: another server, a proxy, or a damaged answer."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class AnswerTooLarge(UnexpectedAnswer):
    """The answer exceeds a bound of `Bounds`, and was not read further."""


class ConnectionClosed(SluiceError):
    """The connection was closed before this call."""


class DataNotSupported(SluiceError, TypeError):
    """The data to send, or the value of a parameter, has a type that cannot be sent."""


class ValueOutOfRange(SluiceError, ValueError):
    """A value, such as a date in the year 20000, has no Python value. Read it with `arrow()`."""


class ResultTruncated(SluiceError):
    """The gateway cut the result, and the caller did not ask for that."""


class GatewayError(SluiceError):
    """The gateway answered with an error. Branch on the class, or on `code`, which is stable."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return problem_text(self.problem)

    @property
    def code(self) -> str:
        """The stable code, such as `COLUMN_NOT_FOUND`."""
        return self.problem.code

    @property
    def detail(self) -> str:
        """What is wrong, in a sentence."""
        return self.problem.detail

    @property
    def status(self) -> int | None:
        """The HTTP status; None if the error was found in the state of a query or ingest."""
        return self.problem.status

    @property
    def faults(self) -> Sequence[Fault]:
        """The place of each fault, and the names that would be right, as far as they are known."""
        return self.problem.faults

    @property
    def query_id(self) -> UUID | None:
        """The query that failed, if one was accepted."""
        return self.problem.query_id

    @property
    def ingest_id(self) -> UUID | None:
        """The ingest that failed, if one was accepted."""
        return self.problem.ingest_id

    @property
    def request_id(self) -> UUID | None:
        """The id by which the same request can be sent again without a second effect."""
        return self.problem.request_id

    @property
    def explain_url(self) -> str | None:
        """The address of the explanation of the query that failed."""
        return self.problem.explain_url

    @property
    def retry_after_s(self) -> float | None:
        """How long the gateway asked to wait."""
        return self.problem.retry_after_s


class RequestInvalid(GatewayError):
    """The request is wrong as it stands: a field, the body, an address. Also for other errors of 4xx."""


class NotAuthenticated(GatewayError):
    """The gateway requires credentials, or does not accept these."""


class NotAllowed(GatewayError):
    """The caller is known, but may not do this."""


class NotFound(GatewayError):
    """There is no such table, query or ingest, or it is another caller's."""


class SessionExpired(NotFound):
    """The session is not there any more: it was not used for a while, it was ended, or it is another's.

    Its values are gone. Open another session.
    """


class SqlInvalid(GatewayError):
    """The SQL text, or its parameters, cannot be run. `faults` has lines, columns and nearest names."""


class RequestIdReused(GatewayError):
    """This request id was sent before, with another request."""


class QueryFailed(GatewayError):
    """The query was accepted, and failed while it ran."""


class QueryTimedOut(QueryFailed):
    """The query exceeded its own timeout."""


class QueryCanceled(QueryFailed):
    """The query was canceled, so it has no result."""


class ResultExpired(GatewayError):
    """The query succeeded, but the gateway does not have its rows any more. Run it again."""


class RecordsInvalid(GatewayError):
    """Records do not fit the table. Nothing was written. `faults` has the place of each, up to a hundred."""


class SchemaInvalid(GatewayError):
    """A write schema, schema or creation does not fit the table. Nothing was written."""


class IngestFailed(GatewayError):
    """An accepted ingest failed for at least one of its tables. `commits` has the state of each."""

    @property
    def commits(self) -> Sequence[Any]:
        """The part of each table; empty if every part failed."""
        return self.problem.commits


class TooBusy(GatewayError):
    """The gateway has no room for this request now, also after the retries."""


class Unavailable(GatewayError):
    """A part that the request needs is down, also after the retries."""


class GatewayFault(GatewayError):
    """The gateway met an unexpected error. `problem.log_id` finds it in the gateway's log."""
