"""Errors as Flight's clients get them. No exception of Python leaves the server, and no traceback.

pyarrow sends the traceback of every exception that is not one of Flight's own, with paths of files. So each
method that it calls is wrapped, and so are the streams that methods return.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

import pyarrow.flight as flight

from api.flight.wire.flight_errors import FlightNotSupported, TooManyPreparedStatements
from api.sql_protocols.failures import Failure, failure_of
from service.errors import (
    credential_errors,
    gateway_error,
    ingest_errors,
    policy_errors,
    query_errors,
    session_errors,
    statement_errors,
    table_errors,
)
from service.errors.every_kind import kinds_by_code
from service.errors.gateway_error import GatewayError

T = TypeVar("T")

_KINDS = MappingProxyType(
    {
        credential_errors.CredentialRefused: flight.FlightUnauthenticatedError,
        credential_errors.TooManyFailures: flight.FlightUnauthenticatedError,
        policy_errors.TableAccessDenied: flight.FlightUnauthorizedError,
        statement_errors.StatementNotAllowed: flight.FlightUnauthorizedError,
        ingest_errors.WriteNotAllowed: flight.FlightUnauthorizedError,
        policy_errors.AdminRequired: flight.FlightUnauthorizedError,
        query_errors.QueryTimedOut: flight.FlightTimedOutError,
        query_errors.TooManyQueries: flight.FlightUnavailableError,
        session_errors.TooManySessions: flight.FlightUnavailableError,
        TooManyPreparedStatements: flight.FlightUnavailableError,
        table_errors.TableUnreadable: flight.FlightServerError,
        gateway_error.PartDown: flight.FlightUnavailableError,
        gateway_error.CallerError: flight.FlightServerError,
        query_errors.QueryEnded: flight.FlightServerError,
        GatewayError: flight.FlightInternalError,
    }
)
"""The kind of Flight's errors for each class of ours; others have that of the nearest class above.

None is a FlightCancelledError: pyarrow's clients would take it for Ctrl-C in their own program.
"""


class StatementFailed(Exception):
    """A statement ended without a result."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


def flight_error(error: BaseException) -> Exception:
    """Returns Flight's error for one of ours. For any other, it says only that there was one.

    >>> flight_error(table_errors.TableNotFound("lake.a.b"))
    FlightServerError('TABLE_NOT_FOUND: There is no table lake.a.b.')
    """
    if isinstance(error, flight.FlightError):
        known: Exception = error
        return known
    if isinstance(error, StatementFailed):
        kind = _BY_CODE.get(error.failure.code, flight.FlightServerError)
        return _made(kind, error.failure)
    if isinstance(error, NotImplementedError):
        error = FlightNotSupported()
    return _made(_kind(type(error)), failure_of(error))


def _made(kind: Callable[[str], Exception], failure: Failure) -> Exception:
    return kind(failure.text)


def _kind(error_type: type[BaseException]) -> Callable[[str], Exception]:
    kinds = error_type.__mro__ if issubclass(error_type, GatewayError) else (GatewayError,)
    kind: Callable[[str], Exception] = next(_KINDS[known] for known in kinds if known in _KINDS)
    return kind


_BY_CODE = {code: _kind(kind) for code, kind in kinds_by_code(GatewayError).items()}


def fail(error: BaseException) -> NoReturn:
    """Raises Flight's error for an error."""
    raise flight_error(error) from None


def shielded(method: Callable[..., T]) -> Callable[..., T]:
    """Wraps a method that pyarrow calls: whatever it raises becomes one of Flight's errors."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> T:
        try:
            return method(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - the outermost edge: pyarrow would send the traceback
            fail(error)

    return call


class SchemaFailed(ValueError):
    """The failure of a call for a schema.

    pyarrow does not know Flight's own errors there, and formats every exception with its traceback. It sends
    the name of the class alone if that fails, as it does for this one.
    """

    @property
    def __cause__(self) -> BaseException | None:  # type: ignore[override]
        """Makes the formatting fail."""
        raise RuntimeError


def shielded_schema(method: Callable[..., T]) -> Callable[..., T]:
    """Does as `shielded` for the one method whose exceptions are always formatted."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> T:
        try:
            return method(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - the outermost edge: pyarrow would send the traceback
            failed = SchemaFailed(str(flight_error(error)))
        raise failed

    return call


def shielded_stream(items: Iterator[Any], at_end: Callable[[], None] = lambda: None) -> Iterator[Any]:
    """Yields the items. Whatever the iterator raises becomes one of Flight's errors.

    `at_end` is called when the stream ends, or is given up.
    """
    try:
        yield from items
    except GeneratorExit:
        raise
    except BaseException as error:  # noqa: BLE001 - the outermost edge: pyarrow would send the traceback
        fail(error)
    finally:
        at_end()
