"""Why a query is not accepted, and how one ends without a result."""

from __future__ import annotations

from service.errors.gateway_error import CallerError, GatewayError, PartDown
from service.errors.unavailable import StorageDown
from service.model.query.query import EngineRun


class NotAdmitted(Exception):
    """A query is planned and has to wait for its turn: its run ends here, before its first job.

    No error of anybody, and no `GatewayError`: nothing reports it.
    """


class WriteRunning(CallerError):
    """The write that was sent under this requestId has not ended, or how it ended is not known yet."""

    code = "WRITE_RUNNING"
    retry_after_s = 5


class RequestIdReused(CallerError):
    """This requestId was sent before with another body. Use a new one for each new request."""

    code = "REQUEST_ID_REUSED"


class QueryNotFound(CallerError):
    """There is no query with this id."""

    code = "QUERY_NOT_FOUND"


class ChunkNotFound(CallerError):
    """The result has no chunk with this number."""

    code = "CHUNK_NOT_FOUND"


class ResultExpired(CallerError):
    """The result's time to live has ended, or policies have changed. Run the query again."""

    code = "RESULT_EXPIRED"


class TooManyQueries(CallerError):
    """Too many queries are waiting. Try again later."""

    code = "TOO_MANY_QUERIES"

    def __init__(self, detail: str | None = None, retry_after_s: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class QuotaExhausted(TooManyQueries):
    """The caller's resource group has used up its budget. Try again later."""

    code = "QUOTA_EXHAUSTED"

    def __init__(self, group: str = "", retry_after_s: int = 1) -> None:
        super().__init__(
            f"The resource group {group} has used up its budget. Send the query again in {retry_after_s} s."
            if group
            else None,
            retry_after_s,
        )


class QueryEnded(GatewayError):
    """The query ended without a result."""

    code = "QUERY_FAILED"
    run: EngineRun | None = None
    """The engine's report on a query that started to run."""


class QueryFailed(QueryEnded):
    """The query failed while it ran."""

    code = "QUERY_FAILED"


class CommitConflict(QueryEnded):
    """Other commits to the table came first and contradict this write. Nothing was committed."""

    code = "COMMIT_CONFLICT"


class WriteFailed(QueryEnded):
    """The write was not committed."""

    code = "WRITE_FAILED"


class CommitStateUnknown(QueryEnded):
    """The catalog did not say whether it has committed the write."""

    code = "WRITE_OUTCOME_UNKNOWN"


class VerificationFailed(QueryEnded):
    """The pruned query gave other rows than the query as written. Please report it; its filters are off."""

    code = "VERIFICATION_FAILED"


class QueryTimedOut(QueryEnded):
    """The query exceeded its own timeout."""

    code = "QUERY_TIMED_OUT"


class QueryCanceled(QueryEnded):
    """The query was canceled."""

    code = "QUERY_CANCELED"


class ReplicaLost(QueryEnded):
    """The gateway that ran the query stopped without reporting a result. Send the query again."""

    code = "REPLICA_LOST"


class ResultTooLarge(QueryEnded):
    """The result is larger than this gateway may hold. Ask for fewer rows or columns."""

    code = "RESULT_TOO_LARGE"


class WriteOutcomeUnknown(PartDown):
    """The engine was lost while the write ran, and it is not known yet whether it was committed.

    GET /query/<id> says it once it is known.
    """

    code = "WRITE_OUTCOME_UNKNOWN"


class QueryQuarantined(PartDown):
    """The engine was lost while queries of this text were running. This text is not run for a while."""

    code = "QUERY_QUARANTINED"

    def __init__(self, detail: str | None = None, retry_after_s: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class NoRoomForResult(QueryEnded, StorageDown):
    """The gateway's own disk has no room for the result. Try again, or ask for fewer rows."""

    code = "STORAGE_DOWN"


class ResultStoreDown(QueryEnded, StorageDown):
    """The object store of results does not answer. Small results still work; try again for large ones."""

    code = "RESULT_STORE_DOWN"


class FilterCollectionTimedOut(GatewayError):
    """Another query collects these keys and was not done in time. Never leaves the gateway."""
