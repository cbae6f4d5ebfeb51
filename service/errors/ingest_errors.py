"""Why an ingest is not accepted, and why accepted files are not committed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from service.errors.gateway_error import CallerError, GatewayError, PartDown
from service.faults import Faulty

SEND_ALONE_AGAIN = "Send only the records for it again, under a new requestId."
"""The cure when no part of the request was written to one table: other tables may have taken theirs."""


class TooManyIngests(CallerError):
    """This gateway is already writing as much as it accepts at once. Try again later."""

    code = "TOO_MANY_INGESTS"

    def __init__(self, detail: str | None = None, retry_after_s: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class IngestCanceled(CallerError):
    """The client hung up before the ingest was accepted. Nothing of it is kept."""

    code = "INGEST_CANCELED"


class IngestNotFound(CallerError):
    """There is no ingest with this id."""

    code = "INGEST_NOT_FOUND"


class IngestInvalid(CallerError):
    """The ingest request is not valid.

    `violations` has every known reason with its place.
    """

    code = "INGEST_INVALID"

    def __init__(self, detail: str, violations: Sequence[Faulty] = ()) -> None:
        super().__init__(detail)
        self.violations = tuple(violations)


class UpsertTooLarge(IngestInvalid):
    """The rows of an upsert, one for each key, take more memory than allowed. Nothing was written."""


class WriteSchemaInvalid(IngestInvalid):
    """The write schema breaks rules of its table. Nothing was written."""

    code = "WRITE_SCHEMA_INVALID"


class SchemaMismatch(IngestInvalid):
    """The table's schema differs, and stays as it is. Nothing was changed or written."""

    code = "SCHEMA_MISMATCH"


class CreationInvalid(IngestInvalid):
    """The table cannot be created as requested. Nothing was created or written."""

    code = "CREATION_INVALID"


class RecordsInvalid(IngestInvalid):
    """Some records do not fit the write schema. Nothing was written.

    `bad_count` counts all of them; `violations` has the first ones.
    """

    code = "RECORDS_INVALID"

    def __init__(self, detail: str, violations: Sequence[Faulty] = (), bad_count: int = 1) -> None:
        super().__init__(detail, violations)
        self.bad_count = bad_count


class WriteNotAllowed(CallerError):
    """Callers may not write to this table here."""

    code = "WRITE_NOT_ALLOWED"


class UpsertNotPossible(CallerError):
    """The table holds rows that the equality deletes of an upsert would not reach. Compact it first."""

    code = "UPSERT_NOT_POSSIBLE"

    def __init__(self, detail: str | None = None, data_files: Collection[str] = ()) -> None:
        super().__init__(detail)
        self.data_files = frozenset(data_files)
        """The upserted files that the error is about; empty: all files."""


class CommittableVersionUnknown(PartDown):
    """A newer gateway wrote the pending commit, and this one cannot read it. Upgrade this one."""

    code = "COMMITTABLE_VERSION_UNKNOWN"


class CommittableUnreadable(GatewayError):
    """The written files of this table cannot be read any more. Send its records under a new requestId."""

    code = "COMMITTABLE_UNREADABLE"

    def __init__(self, detail: str | None = None, data_files: Collection[str] = ()) -> None:
        super().__init__(detail)
        self.data_files = frozenset(data_files)
        """The files that the error is about, where they are known: the other files can still be committed."""


class WrittenFileMissing(CommittableUnreadable):
    """A file that was written is gone."""
