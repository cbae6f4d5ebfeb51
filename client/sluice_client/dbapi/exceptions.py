"""The exceptions of PEP 249, and how the client's own errors become them."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager

from sluice_client import errors


class Warning(builtins.Exception):  # noqa: A001 - PEP 249 names it
    """For important warnings. This module raises none."""


class Error(builtins.Exception):
    """The base of all errors of this module. The cause is the client's own error, with its `code`."""


class InterfaceError(Error):
    """The module is used wrongly: a closed connection or cursor."""


class DatabaseError(Error):
    """The base of errors that the gateway reports."""


class DataError(DatabaseError):
    """A value is out of range, or a result is not whole."""


class OperationalError(DatabaseError):
    """The gateway cannot be reached, is busy, or does not have a part that it needs."""


class IntegrityError(DatabaseError):
    """Records do not fit their table. Queries never raise it."""


class InternalError(DatabaseError):
    """The gateway, or the answer, is at fault."""


class ProgrammingError(DatabaseError):
    """The SQL or its parameters are wrong, or the caller may not do this."""


class NotSupportedError(DatabaseError):
    """The gateway does not have this."""


_CLASSES: tuple[tuple[type[builtins.Exception], type[Error]], ...] = (
    (errors.ConnectionClosed, InterfaceError),
    (errors.DataNotSupported, ProgrammingError),
    (errors.ResultTruncated, DataError),
    (errors.ValueOutOfRange, DataError),
    (errors.UnexpectedAnswer, InternalError),
    (errors.GatewayFault, InternalError),
    (errors.SqlInvalid, ProgrammingError),
    (errors.NotAllowed, ProgrammingError),
    (errors.SessionExpired, OperationalError),
    (errors.NotFound, ProgrammingError),
    (errors.RequestInvalid, ProgrammingError),
    (errors.RequestIdReused, ProgrammingError),
    (errors.SluiceError, OperationalError),
)
"""The first that fits counts."""
_BY_CODE: dict[str, type[Error]] = {
    "STATEMENT_NOT_ALLOWED": NotSupportedError,
    "QUERY_FAILED": DataError,
    "RESULT_TOO_LARGE": DataError,
    "VERIFICATION_FAILED": InternalError,
}


@contextmanager
def as_dbapi() -> Iterator[None]:
    """Turns the client's own errors into those of PEP 249."""
    try:
        yield
    except errors.SluiceError as error:
        raise _class_of(error)(str(error)) from error


def _class_of(error: errors.SluiceError) -> type[Error]:
    if isinstance(error, errors.GatewayError) and error.code in _BY_CODE:
        return _BY_CODE[error.code]
    return next(chosen for known, chosen in _CLASSES if isinstance(error, known))
