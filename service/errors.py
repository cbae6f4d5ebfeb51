"""Every error of the gateway, named for what the caller did or for the part that is down.

`code` is stable: callers may branch on it. Only `api/http/problems/http_errors.py` knows its HTTP status. The
errors form a tree, so that a handler can catch a general or a specific class.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import ClassVar

from service.faults import Fault, Faulty
from service.model.policies.actions import Action
from service.model.query.query import EngineRun
from service.model.tables.schema_changes import TableEvolution
from service.model.tables.tables import TableName

SEND_ALONE_AGAIN = "Send only the records for it again, under a new requestId."
"""The cure when no part of the request was written to one table: other tables may have taken theirs."""


class GatewayError(Exception):
    """The gateway met an unexpected error."""

    code: ClassVar[str] = "INTERNAL"
    evolutions: Sequence[TableEvolution] = ()
    """Tables created or changed before the error, which stay so."""

    def __init__(self, detail: str | None = None) -> None:
        # The rest of a docstring is for the code that raises it.
        self.detail = detail or (type(self).__doc__ or "").strip().partition("\n\n")[0]
        super().__init__(self.detail)


class NotAdmitted(Exception):
    """A query is planned and has to wait for its turn: its run ends here, before its first job.

    No error of anybody, and no `GatewayError`: nothing reports it.
    """


# ---- what the caller did --------------------------------------------------------------------------


class CallerError(GatewayError):
    """The request cannot be served as it stands."""

    code = "BAD_REQUEST"


class SqlEmpty(CallerError):
    """The SQL text has no statement. Send one SELECT."""

    code = "SQL_EMPTY"


class SqlTooLarge(CallerError):
    """The SQL text is larger than this gateway accepts."""

    code = "SQL_TOO_LARGE"


class SqlTooDeep(CallerError):
    """The SQL text is nested too deeply. Name its parts with WITH instead of nesting them."""

    code = "SQL_TOO_DEEP"


class SqlManyStatements(CallerError):
    """The SQL text has more than one statement. Send them one by one."""

    code = "SQL_MANY_STATEMENTS"


class SqlSyntaxError(CallerError):
    """The SQL text does not parse.

    `line` and `column` count from 1.
    """

    code = "SQL_SYNTAX"

    def __init__(self, detail: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(detail)
        self.line = line
        self.column = column


class SqlInvalid(CallerError):
    """The SQL text parses, but its names or types do not fit together."""

    code = "SQL_INVALID"


class StatementNotAllowed(CallerError):
    """Only queries may be sent, and the statements SHOW, DESCRIBE and EXPLAIN."""

    code = "STATEMENT_NOT_ALLOWED"


class SessionRequired(CallerError):
    """This statement changes a session. Create one with POST /sessions, and send its sessionId."""

    code = "SESSION_REQUIRED"


class SessionNotFound(CallerError):
    """There is no session with this id for this caller. It may have ended because it was not used."""

    code = "SESSION_NOT_FOUND"


class SessionViewNotFound(CallerError):
    """The session has no temporary view of this name."""

    code = "SESSION_VIEW_NOT_FOUND"


class SessionSettingRefused(CallerError):
    """A session may not have this setting, or not this value of it."""

    code = "SESSION_SETTING_REFUSED"


class SessionTooLarge(CallerError):
    """The session would have more views or bytes than this gateway allows."""

    code = "SESSION_TOO_LARGE"


class TooManySessions(CallerError):
    """There are as many sessions as this gateway allows. Try again later."""

    code = "TOO_MANY_SESSIONS"
    retry_after_s = 60


class QueryTooLarge(CallerError):
    """The query needs more partitions, copies or bytes at once than this gateway allows one query."""

    code = "QUERY_TOO_LARGE"


class ReadOptionInvalid(CallerError):
    """A read option has a value that this gateway does not accept."""

    code = "READ_OPTION_INVALID"


class TableAmbiguous(CallerError):
    """The name belongs to a table or view, and also to another table's metadata or version."""

    code = "TABLE_AMBIGUOUS"

    def __init__(self, table: str) -> None:
        super().__init__(
            f"{table} is a table or view, and also the name of another table's metadata or"
            " version. Nothing was read or written. Ask the catalog's administrator to rename or drop the"
            " one whose schema has the name of a table."
        )


class TableNotFound(CallerError):
    """There is no such table.

    `nearest` holds the most similar names that exist. `others` are further missing tables of the same
    request.
    """

    code = "TABLE_NOT_FOUND"

    def __init__(self, table: str, nearest: Sequence[str] = (), others: Sequence[TableNotFound] = ()) -> None:
        super().__init__(f"There is no table {table}.{did_you_mean(nearest)}")
        self.table = table
        self.nearest = tuple(nearest)
        self.others = tuple(others)


_DOING = {
    Action.SELECT: "read",
    Action.INSERT: "append records to",
    Action.MODIFY: "upsert records to, or change the schema of,",
    Action.DESCRIBE: "describe",
    Action.CREATE: "create",
    Action.MAINTAIN: "maintain",
    Action.ADMIN: "administer",
}


class TableAccessDenied(CallerError):
    """This principal may not do this to this table."""

    code = "TABLE_ACCESS_DENIED"

    def __init__(self, table: TableName, action: Action, reason: str = "") -> None:
        super().__init__(f"You may not {_DOING[action]} {table}{reason and ': '}{reason}.")
        self.table = str(table)


class ViewChanged(CallerError):
    """A view is no longer what it was when policies gave it the rights of its definer."""

    code = "VIEW_CHANGED"

    def __init__(self, view: TableName) -> None:
        super().__init__(
            f"The view {view} has changed since policies gave it the rights of its definer. An administrator"
            " has to look at it, and to import the policies with its present definition."
        )
        self.table = str(view)


class ColumnNotFound(CallerError):
    """There is no such column.

    `nearest` holds the most similar names that exist.
    """

    code = "COLUMN_NOT_FOUND"

    def __init__(
        self, column: str, nearest: Sequence[str] = (), line: int | None = None, position: int | None = None
    ) -> None:
        super().__init__(f"There is no column {column}.{did_you_mean(nearest)}")
        self.column_name = column
        self.nearest = tuple(nearest)
        self.line = line
        self.column = position


class ParameterMissing(CallerError):
    """The SQL text has a parameter for which no value was sent."""

    code = "PARAMETER_MISSING"


class ParameterUnused(CallerError):
    """A value was sent for a parameter that the SQL text does not have."""

    code = "PARAMETER_UNUSED"


class ParameterInvalid(CallerError):
    """A parameter's value does not fit its type."""

    code = "PARAMETER_INVALID"


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


class TableChanged(CallerError):
    """The table changed, and the rows of this ingest no longer fit."""

    code = "TABLE_CHANGED"


class UpsertNotPossible(CallerError):
    """The table holds rows that the equality deletes of an upsert would not reach. Compact it first."""

    code = "UPSERT_NOT_POSSIBLE"

    def __init__(self, detail: str | None = None, data_files: Collection[str] = ()) -> None:
        super().__init__(detail)
        self.data_files = frozenset(data_files)
        """The upserted files that the error is about; empty: all files."""


class MaintenanceNotFound(CallerError):
    """The table has no maintenance with this id."""

    code = "MAINTENANCE_NOT_FOUND"


class MaintenanceRunning(CallerError):
    """The table has a maintenance that has not ended."""

    code = "MAINTENANCE_RUNNING"


class MaintenanceBelowFloor(CallerError):
    """The maintenance would remove what the operator keeps. Nothing was removed.

    `faults` has each bound that is below its floor.
    """

    code = "MAINTENANCE_BELOW_FLOOR"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(" ".join(fault.detail for fault in faults) or None)
        self.faults = tuple(faults)


class MaintenanceNotSafe(CallerError):
    """Files that are needed might be deleted. Nothing was deleted."""

    code = "MAINTENANCE_NOT_SAFE"


# ---- authentication -------------------------------------------------------------------------------


class CredentialFault(StrEnum):
    """Why credentials are refused."""

    MISSING = "missing"
    MALFORMED = "malformed"
    UNKNOWN = "unknown"
    WRONG = "wrong"
    EXPIRED = "expired"
    REVOKED = "revoked"
    TOO_LARGE = "too_large"
    ISSUER = "issuer"
    ALGORITHM = "algorithm"
    EXTENSION = "extension"
    UNKNOWN_KEY = "unknown_key"
    SIGNATURE = "signature"
    AUDIENCE = "audience"
    NOT_YET_VALID = "not_yet_valid"
    CLAIM = "claim"
    PRINCIPAL = "principal"
    ROLES = "roles"


class CredentialRefused(CallerError):
    """The gateway does not accept these credentials.

    `reason` is for the log and the metrics.
    """

    code = "UNAUTHENTICATED"
    reason = CredentialFault.UNKNOWN

    def __init__(self, detail: str | None = None, reason: CredentialFault | None = None) -> None:
        super().__init__(detail)
        self.reason = reason or type(self).reason


class ApiKeyInvalid(CredentialRefused):
    """There is no such API key, or its secret is wrong."""

    code = "API_KEY_INVALID"
    reason = CredentialFault.WRONG


class ApiKeyExpired(CredentialRefused):
    """The API key has expired. Ask an administrator for a new one."""

    code = "API_KEY_EXPIRED"
    reason = CredentialFault.EXPIRED


class ApiKeyRevoked(CredentialRefused):
    """The API key was revoked. Ask an administrator for a new one."""

    code = "API_KEY_REVOKED"
    reason = CredentialFault.REVOKED


class AccessTokenInvalid(CredentialRefused):
    """The gateway does not accept this access token."""

    code = "ACCESS_TOKEN_INVALID"
    reason = CredentialFault.MALFORMED


class AccessTokenExpired(CredentialRefused):
    """The access token has expired. Ask its issuer for a new one."""

    code = "ACCESS_TOKEN_EXPIRED"
    reason = CredentialFault.EXPIRED


class CertificateInvalid(CredentialRefused):
    """The client certificate is missing or has expired, or it names no principal."""

    code = "CERTIFICATE_INVALID"
    reason = CredentialFault.MISSING


class TooManyFailures(CallerError):
    """Too many attempts from this address, or with this key, have failed. Wait before the next one."""

    code = "TOO_MANY_FAILURES"

    def __init__(self, detail: str | None = None, retry_after_s: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class AdminRequired(CallerError):
    """Only administrators may do this."""

    code = "ADMIN_REQUIRED"


class PoliciesChanged(CallerError):
    """The policies have another version than the request expects."""

    code = "POLICIES_CHANGED"

    def __init__(self, version: int) -> None:
        super().__init__(
            f"Another request has changed the policies: their version is {version} now. Read them again, and"
            " apply your change to them."
        )
        self.version = version


class PoliciesInvalid(CallerError):
    """The policies are not valid. Nothing was changed."""

    code = "POLICIES_INVALID"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(map(str, faults[:3])) or None)
        self.faults = tuple(faults)


class ApiKeyNotFound(CallerError):
    """There is no API key with this id."""

    code = "API_KEY_NOT_FOUND"


# ---- how a query ended ----------------------------------------------------------------------------


class QueryEnded(GatewayError):
    """The query ended without a result."""

    code = "QUERY_FAILED"
    run: EngineRun | None = None
    """The engine's report on a query that started to run."""


class QueryFailed(QueryEnded):
    """The query failed while it ran."""

    code = "QUERY_FAILED"


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


class StreamFailed(GatewayError):
    """A stream ended with an error."""

    code = "STREAM_FAILED"


# ---- what is down ---------------------------------------------------------------------------------


class PartDown(GatewayError):
    """A part that the request needs is down."""

    code = "PART_DOWN"


class EngineLost(PartDown):
    """The engine was lost while the query ran. A new one is being started; send the query again.

    `may_run_again`: whether the gateway may run the query again on its own.
    """

    code = "ENGINE_LOST"

    def __init__(self, detail: str | None = None, may_run_again: bool = True) -> None:
        super().__init__(detail)
        self.may_run_again = may_run_again


class QueryQuarantined(PartDown):
    """The engine was lost while queries of this text were running. This text is not run for a while."""

    code = "QUERY_QUARANTINED"

    def __init__(self, detail: str | None = None, retry_after_s: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class EngineNotReady(PartDown):
    """The engine is not warm yet."""

    code = "ENGINE_NOT_READY"


class CatalogDown(PartDown):
    """The catalog does not answer."""

    code = "CATALOG_DOWN"


class TableUnreadable(PartDown):
    """The table has something that this gateway cannot read, such as a type of a newer format version."""

    code = "TABLE_UNREADABLE"


class MetricsStoreDown(PartDown):
    """The metrics store does not answer."""

    code = "METRICS_STORE_DOWN"


class FilterCacheDown(PartDown):
    """The filter cache does not answer."""

    code = "FILTER_CACHE_DOWN"


class StorageDown(PartDown):
    """The table's storage does not accept files."""

    code = "STORAGE_DOWN"


class NoRoomForResult(QueryEnded, StorageDown):
    """The gateway's own disk has no room for the result. Try again, or ask for fewer rows."""

    code = "STORAGE_DOWN"


class ExecutorsFailed(PartDown):
    """Spark's executors could not do this work; the log has the cause. Nothing was accepted."""

    code = "EXECUTORS_FAILED"


class StreamSourceDown(PartDown):
    """The stream's source does not answer, or does not exist. The stream is tried again."""

    code = "STREAM_SOURCE_DOWN"


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


class MaintenanceFailed(GatewayError):
    """The table could not be maintained. Its rows are unchanged."""

    code = "MAINTENANCE_FAILED"


class AuthenticationDown(PartDown):
    """The credentials cannot be verified now: a store or an issuer is down. Send the request again."""

    code = "AUTHENTICATION_DOWN"


class AuditLogFull(PartDown):
    """The audit log takes no more events now, and nothing is done without one. Send the request again."""

    code = "AUDIT_LOG_FULL"


class PoliciesDown(PartDown):
    """The policies are not known, or too old: the metrics store does not answer. Send the request again."""

    code = "POLICIES_DOWN"


class GatewayBusy(PartDown):
    """All of the gateway's threads are taken, and none became free in time. Send the request again."""

    code = "GATEWAY_BUSY"


class ShuttingDown(PartDown):
    """The gateway is shutting down."""

    code = "SHUTTING_DOWN"


# ---- what a query goes on without -----------------------------------------------------------------


class FilterCollectionTimedOut(GatewayError):
    """Another query collects these keys and was not done in time. Never leaves the gateway."""


# ---- what keeps the gateway from starting ---------------------------------------------------------


class CannotStart(GatewayError):
    """The gateway cannot start; the message is one sentence with the cure."""

    code = "CANNOT_START"


def did_you_mean(nearest: Sequence[str]) -> str:
    """Returns a closing question that names the nearest candidates, or an empty text.

    >>> did_you_mean(["d_year", "d_moy"])
    ' Did you mean d_year or d_moy?'
    >>> did_you_mean([])
    ''
    """
    return f" Did you mean {' or '.join(nearest)}?" if nearest else ""
