"""Files and streams that cannot be read, or may not be."""

from __future__ import annotations

from service.errors.gateway_error import CallerError, GatewayError, PartDown
from service.errors.ingest_errors import IngestInvalid


class SourceNotAllowed(CallerError):
    """Callers may not read from this location here."""

    code = "SOURCE_NOT_ALLOWED"


class SourceDenied(CallerError):
    """The storage refuses the gateway. Ask the operator: its credentials there may not list or read this."""

    code = "SOURCE_DENIED"


class SourceInvalid(IngestInvalid):
    """The source names no files that can be read, or more than may be read at once."""

    code = "SOURCE_INVALID"


class SourceChanged(CallerError):
    """A file of the source changed or disappeared while it was read. Nothing was accepted: send it again."""

    code = "SOURCE_CHANGED"


class StreamNotFound(CallerError):
    """There is no stream with this id."""

    code = "STREAM_NOT_FOUND"


class StreamInvalid(IngestInvalid):
    """The stream cannot be run as requested."""

    code = "STREAM_INVALID"


class GrantRevoked(CallerError):
    """The creator of a stream may no longer write to one of its tables, or has no valid credentials."""

    code = "GRANT_REVOKED"

    def __init__(self, table: str | None = None) -> None:
        lost = (
            "The stream's creator has no valid credentials any more"
            if table is None
            else f"Policies do not let the stream's creator write to {table}"
        )
        super().__init__(f"{lost}. Once that has changed, its creator can resume the stream.")


class StreamFailed(GatewayError):
    """A stream ended with an error."""

    code = "STREAM_FAILED"


class StreamSourceDown(PartDown):
    """The stream's source does not answer, or does not exist. The stream is tried again."""

    code = "STREAM_SOURCE_DOWN"
