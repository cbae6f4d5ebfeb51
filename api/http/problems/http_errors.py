"""The HTTP status of each error, in one table, and the errors that only the HTTP edge raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType

from service.errors import (
    cache_errors,
    credential_errors,
    gateway_error,
    ingest_errors,
    maintenance_errors,
    policy_errors,
    query_errors,
    saved_query_errors,
    session_errors,
    source_errors,
    statement_errors,
    table_errors,
    trial_errors,
    unavailable,
)
from service.errors.gateway_error import CallerError, GatewayError
from service.faults import Fault


class InvalidRequest(CallerError):
    """Fields of the request are missing, unknown, of a wrong type or out of bounds."""

    code = "INVALID_REQUEST"

    def __init__(self, faults: Sequence[Fault] = ()) -> None:
        super().__init__("; ".join(map(str, faults[:3])) or None)
        self.faults = tuple(faults)


class NotJson(CallerError):
    """The body is not JSON."""

    code = "NOT_JSON"


class UnsupportedMediaType(CallerError):
    """The body's content type is not supported. Send application/json."""

    code = "UNSUPPORTED_MEDIA_TYPE"


class NotAcceptable(CallerError):
    """None of the content types in Accept can be served here."""

    code = "NOT_ACCEPTABLE"


class RangeNotSatisfiable(CallerError):
    """The answer has no byte in the range that the request asks for."""

    code = "RANGE_NOT_SATISFIABLE"

    def __init__(self, byte_count: int) -> None:
        super().__init__(f"The answer has {byte_count} bytes, and none of them is in the range.")
        self.byte_count = byte_count


class BodyTooLarge(CallerError):
    """The body is larger than this gateway accepts."""

    code = "BODY_TOO_LARGE"


class TooManyBodies(CallerError):
    """Request bodies already take all the memory that the gateway allows. Try again later."""

    code = "TOO_MANY_BODIES"


class BodyTooSlow(CallerError):
    """The body stopped arriving, or arrived too slowly. Nothing of it was kept: send it again."""

    code = "BODY_TOO_SLOW"


class NotHttp(CallerError):
    """This gateway does not accept the request as HTTP/1.1. It was not processed."""

    code = "NOT_HTTP"


class UrlTooLong(CallerError):
    """The URL is longer than this gateway accepts."""

    code = "URL_TOO_LONG"


class HeadersTooLarge(CallerError):
    """The request's headers are larger than this gateway accepts."""

    code = "HEADERS_TOO_LARGE"


class HeadersTooSlow(CallerError):
    """The request's headers did not arrive in time. It was not processed: send it again."""

    code = "HEADERS_TOO_SLOW"


class TooManyConnections(CallerError):
    """The gateway has no free connection, in all or for this address. Try again later."""

    code = "TOO_MANY_CONNECTIONS"


class TooManyRequests(CallerError):
    """This caller has too many requests that wait for their answers. Wait for some to end."""

    code = "TOO_MANY_REQUESTS"


class TooManyEventStreams(CallerError):
    """There are as many open streams of events as this gateway allows."""

    code = "TOO_MANY_EVENT_STREAMS"


class Unauthenticated(credential_errors.CredentialRefused):
    """Send a known token as `Authorization: Bearer <token>`."""

    code = "UNAUTHENTICATED"


class PoliciesVersionRequired(CallerError):
    """Send the version of the policies that you have read, as the header If-Match."""

    code = "POLICIES_VERSION_REQUIRED"


class SavedQueryVersionRequired(CallerError):
    """Send the version of the saved query that you have read, as the header If-Match."""

    code = "SAVED_QUERY_VERSION_REQUIRED"


class HostNotAllowed(CallerError):
    """The name in the header Host is not one that this gateway answers to without tokens."""

    code = "HOST_NOT_ALLOWED"


class RouteNotFound(CallerError):
    """There is nothing at this address."""

    code = "ROUTE_NOT_FOUND"


class MethodNotAllowed(CallerError):
    """This address does not support the method. The header Allow lists the methods that it supports."""

    code = "METHOD_NOT_ALLOWED"


STATUS: Mapping[type[GatewayError], HTTPStatus] = MappingProxyType(
    {
        GatewayError: HTTPStatus.INTERNAL_SERVER_ERROR,
        gateway_error.CallerError: HTTPStatus.BAD_REQUEST,
        statement_errors.SqlEmpty: HTTPStatus.UNPROCESSABLE_ENTITY,
        statement_errors.SqlTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        statement_errors.SqlTooDeep: HTTPStatus.UNPROCESSABLE_ENTITY,
        statement_errors.SqlManyStatements: HTTPStatus.UNPROCESSABLE_ENTITY,
        statement_errors.SqlSyntaxError: HTTPStatus.UNPROCESSABLE_ENTITY,
        statement_errors.SqlInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        statement_errors.StatementNotAllowed: HTTPStatus.FORBIDDEN,
        session_errors.SessionRequired: HTTPStatus.UNPROCESSABLE_ENTITY,
        session_errors.SessionNotFound: HTTPStatus.NOT_FOUND,
        session_errors.SessionViewNotFound: HTTPStatus.NOT_FOUND,
        session_errors.SessionSettingRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
        session_errors.SessionTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        session_errors.TooManySessions: HTTPStatus.TOO_MANY_REQUESTS,
        cache_errors.CacheNotFound: HTTPStatus.NOT_FOUND,
        cache_errors.CacheNotEmptiable: HTTPStatus.CONFLICT,
        saved_query_errors.SavedQueryNotFound: HTTPStatus.NOT_FOUND,
        saved_query_errors.SavedQueryNotOwned: HTTPStatus.FORBIDDEN,
        saved_query_errors.SavedQueryChanged: HTTPStatus.PRECONDITION_FAILED,
        saved_query_errors.SavedQueryTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        saved_query_errors.TooManySavedQueries: HTTPStatus.CONFLICT,
        statement_errors.QueryTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        statement_errors.ReadOptionInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        table_errors.TableAmbiguous: HTTPStatus.CONFLICT,
        table_errors.TableNotFound: HTTPStatus.NOT_FOUND,
        policy_errors.TableAccessDenied: HTTPStatus.FORBIDDEN,
        table_errors.ViewChanged: HTTPStatus.FORBIDDEN,
        statement_errors.ColumnNotFound: HTTPStatus.UNPROCESSABLE_ENTITY,
        statement_errors.ParameterMissing: HTTPStatus.UNPROCESSABLE_ENTITY,
        statement_errors.ParameterUnused: HTTPStatus.UNPROCESSABLE_ENTITY,
        statement_errors.ParameterInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        query_errors.RequestIdReused: HTTPStatus.CONFLICT,
        query_errors.QueryNotFound: HTTPStatus.NOT_FOUND,
        query_errors.ChunkNotFound: HTTPStatus.NOT_FOUND,
        query_errors.ResultExpired: HTTPStatus.GONE,
        query_errors.TooManyQueries: HTTPStatus.TOO_MANY_REQUESTS,
        query_errors.WriteOutcomeUnknown: HTTPStatus.INTERNAL_SERVER_ERROR,
        query_errors.CommitStateUnknown: HTTPStatus.INTERNAL_SERVER_ERROR,
        query_errors.WriteFailed: HTTPStatus.CONFLICT,
        statement_errors.SqlWritesOff: HTTPStatus.FORBIDDEN,
        query_errors.QuotaExhausted: HTTPStatus.TOO_MANY_REQUESTS,
        ingest_errors.TooManyIngests: HTTPStatus.TOO_MANY_REQUESTS,
        ingest_errors.IngestCanceled: HTTPStatus.CONFLICT,
        ingest_errors.IngestNotFound: HTTPStatus.NOT_FOUND,
        ingest_errors.IngestInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        ingest_errors.UpsertTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        ingest_errors.WriteSchemaInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        ingest_errors.SchemaMismatch: HTTPStatus.UNPROCESSABLE_ENTITY,
        ingest_errors.CreationInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        ingest_errors.RecordsInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        ingest_errors.WriteNotAllowed: HTTPStatus.FORBIDDEN,
        source_errors.SourceNotAllowed: HTTPStatus.FORBIDDEN,
        source_errors.SourceDenied: HTTPStatus.FORBIDDEN,
        source_errors.SourceInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        source_errors.SourceChanged: HTTPStatus.CONFLICT,
        source_errors.StreamNotFound: HTTPStatus.NOT_FOUND,
        source_errors.StreamInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        source_errors.GrantRevoked: HTTPStatus.FORBIDDEN,
        source_errors.StreamFailed: HTTPStatus.INTERNAL_SERVER_ERROR,
        table_errors.LayoutUnknown: HTTPStatus.UNPROCESSABLE_ENTITY,
        trial_errors.TrialsOff: HTTPStatus.FORBIDDEN,
        trial_errors.TrialNotFound: HTTPStatus.NOT_FOUND,
        trial_errors.TrialRunning: HTTPStatus.CONFLICT,
        trial_errors.AdviceNotFound: HTTPStatus.NOT_FOUND,
        trial_errors.TrialTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        trial_errors.TrialCanceled: HTTPStatus.CONFLICT,
        trial_errors.TrialFailed: HTTPStatus.INTERNAL_SERVER_ERROR,
        table_errors.TableChanged: HTTPStatus.CONFLICT,
        ingest_errors.UpsertNotPossible: HTTPStatus.CONFLICT,
        maintenance_errors.MaintenanceNotFound: HTTPStatus.NOT_FOUND,
        maintenance_errors.MaintenanceRunning: HTTPStatus.CONFLICT,
        query_errors.WriteRunning: HTTPStatus.CONFLICT,
        query_errors.CommitConflict: HTTPStatus.CONFLICT,
        maintenance_errors.MaintenanceBelowFloor: HTTPStatus.UNPROCESSABLE_ENTITY,
        maintenance_errors.MaintenanceNotSafe: HTTPStatus.CONFLICT,
        maintenance_errors.MaintenanceFailed: HTTPStatus.INTERNAL_SERVER_ERROR,
        source_errors.StreamSourceDown: HTTPStatus.SERVICE_UNAVAILABLE,
        ingest_errors.CommittableVersionUnknown: HTTPStatus.SERVICE_UNAVAILABLE,
        ingest_errors.CommittableUnreadable: HTTPStatus.INTERNAL_SERVER_ERROR,
        ingest_errors.WrittenFileMissing: HTTPStatus.INTERNAL_SERVER_ERROR,
        credential_errors.CredentialRefused: HTTPStatus.UNAUTHORIZED,
        credential_errors.ApiKeyInvalid: HTTPStatus.UNAUTHORIZED,
        credential_errors.ApiKeyExpired: HTTPStatus.UNAUTHORIZED,
        credential_errors.ApiKeyRevoked: HTTPStatus.UNAUTHORIZED,
        credential_errors.KeySessionEnded: HTTPStatus.UNAUTHORIZED,
        credential_errors.LoginNotBegun: HTTPStatus.UNAUTHORIZED,
        credential_errors.LoginExpired: HTTPStatus.UNAUTHORIZED,
        credential_errors.LoginRefused: HTTPStatus.UNAUTHORIZED,
        credential_errors.LoginTokenInvalid: HTTPStatus.UNAUTHORIZED,
        credential_errors.LoginElsewhere: HTTPStatus.FORBIDDEN,
        credential_errors.LoginUnknown: HTTPStatus.NOT_FOUND,
        credential_errors.LoginNeedsKey: HTTPStatus.FORBIDDEN,
        credential_errors.CrossSiteRequest: HTTPStatus.FORBIDDEN,
        credential_errors.AccessTokenInvalid: HTTPStatus.UNAUTHORIZED,
        credential_errors.AccessTokenExpired: HTTPStatus.UNAUTHORIZED,
        credential_errors.CertificateInvalid: HTTPStatus.UNAUTHORIZED,
        credential_errors.TooManyFailures: HTTPStatus.TOO_MANY_REQUESTS,
        policy_errors.AdminRequired: HTTPStatus.FORBIDDEN,
        policy_errors.PoliciesChanged: HTTPStatus.PRECONDITION_FAILED,
        policy_errors.PoliciesInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        credential_errors.ApiKeyNotFound: HTTPStatus.NOT_FOUND,
        query_errors.QueryEnded: HTTPStatus.UNPROCESSABLE_ENTITY,
        query_errors.QueryFailed: HTTPStatus.UNPROCESSABLE_ENTITY,
        query_errors.QueryTimedOut: HTTPStatus.GATEWAY_TIMEOUT,
        query_errors.QueryCanceled: HTTPStatus.CONFLICT,
        query_errors.ReplicaLost: HTTPStatus.SERVICE_UNAVAILABLE,
        query_errors.ResultTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway_error.PartDown: HTTPStatus.SERVICE_UNAVAILABLE,
        unavailable.EngineLost: HTTPStatus.SERVICE_UNAVAILABLE,
        query_errors.QueryQuarantined: HTTPStatus.SERVICE_UNAVAILABLE,
        unavailable.EngineNotReady: HTTPStatus.SERVICE_UNAVAILABLE,
        unavailable.CatalogDown: HTTPStatus.SERVICE_UNAVAILABLE,
        table_errors.TableUnreadable: HTTPStatus.UNPROCESSABLE_ENTITY,
        unavailable.MetricsStoreDown: HTTPStatus.SERVICE_UNAVAILABLE,
        unavailable.FilterCacheDown: HTTPStatus.SERVICE_UNAVAILABLE,
        unavailable.StorageDown: HTTPStatus.SERVICE_UNAVAILABLE,
        query_errors.NoRoomForResult: HTTPStatus.SERVICE_UNAVAILABLE,
        query_errors.ResultStoreDown: HTTPStatus.SERVICE_UNAVAILABLE,
        unavailable.ExecutorsFailed: HTTPStatus.SERVICE_UNAVAILABLE,
        query_errors.VerificationFailed: HTTPStatus.INTERNAL_SERVER_ERROR,
        query_errors.FilterCollectionTimedOut: HTTPStatus.INTERNAL_SERVER_ERROR,
        credential_errors.AuthenticationDown: HTTPStatus.SERVICE_UNAVAILABLE,
        policy_errors.AuditLogFull: HTTPStatus.SERVICE_UNAVAILABLE,
        policy_errors.PoliciesDown: HTTPStatus.SERVICE_UNAVAILABLE,
        unavailable.GatewayBusy: HTTPStatus.SERVICE_UNAVAILABLE,
        unavailable.ShuttingDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway_error.CannotStart: HTTPStatus.INTERNAL_SERVER_ERROR,
        InvalidRequest: HTTPStatus.UNPROCESSABLE_ENTITY,
        NotJson: HTTPStatus.BAD_REQUEST,
        UnsupportedMediaType: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        NotAcceptable: HTTPStatus.NOT_ACCEPTABLE,
        RangeNotSatisfiable: HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
        BodyTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        TooManyBodies: HTTPStatus.TOO_MANY_REQUESTS,
        BodyTooSlow: HTTPStatus.REQUEST_TIMEOUT,
        NotHttp: HTTPStatus.BAD_REQUEST,
        UrlTooLong: HTTPStatus.REQUEST_URI_TOO_LONG,
        HeadersTooLarge: HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        HeadersTooSlow: HTTPStatus.REQUEST_TIMEOUT,
        TooManyConnections: HTTPStatus.SERVICE_UNAVAILABLE,
        TooManyRequests: HTTPStatus.TOO_MANY_REQUESTS,
        TooManyEventStreams: HTTPStatus.TOO_MANY_REQUESTS,
        Unauthenticated: HTTPStatus.UNAUTHORIZED,
        PoliciesVersionRequired: HTTPStatus.PRECONDITION_REQUIRED,
        SavedQueryVersionRequired: HTTPStatus.PRECONDITION_REQUIRED,
        HostNotAllowed: HTTPStatus.MISDIRECTED_REQUEST,
        RouteNotFound: HTTPStatus.NOT_FOUND,
        MethodNotAllowed: HTTPStatus.METHOD_NOT_ALLOWED,
    }
)

_STATUS_BY_CODE = MappingProxyType(
    {error_type.code: status for error_type, status in reversed(list(STATUS.items()))}
)


def status_of(error: GatewayError) -> HTTPStatus:
    """The status of an error's class, or of the nearest class above it."""
    return next(STATUS[error_type] for error_type in type(error).__mro__ if error_type in STATUS)


def status_of_code(code: str) -> HTTPStatus:
    """Returns the HTTP status for the code of a recorded error."""
    return _STATUS_BY_CODE.get(code, HTTPStatus.INTERNAL_SERVER_ERROR)
