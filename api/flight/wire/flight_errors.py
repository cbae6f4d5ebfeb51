"""The errors that only Arrow Flight SQL has."""

from __future__ import annotations

from service.errors.gateway_error import CallerError, PartDown


class FlightMessageInvalid(CallerError):
    """The bytes are not the message of Arrow Flight SQL that this call takes."""

    code = "FLIGHT_MESSAGE_INVALID"


class FlightNotSupported(CallerError):
    """This gateway does not offer this call of Arrow Flight SQL."""

    code = "FLIGHT_NOT_SUPPORTED"


class FlightHandleUnknown(CallerError):
    """There is no such prepared statement or result for this caller. It may have ended: prepare it again."""

    code = "FLIGHT_HANDLE_UNKNOWN"


class ResultChanged(CallerError):
    """The result has other columns than before, because a table has changed. Prepare the statement again."""

    code = "RESULT_CHANGED"


class TooManyPreparedStatements(CallerError):
    """There are as many prepared statements as this gateway allows. Close those that you do not need."""

    code = "TOO_MANY_PREPARED_STATEMENTS"


class FlightBusy(PartDown):
    """There are as many calls of Arrow Flight SQL as this gateway serves at once. Try again later."""

    code = "FLIGHT_BUSY"
