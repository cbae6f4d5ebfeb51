"""The HTTP status of each error, in one table, and the errors that only the HTTP edge raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType

from service import errors as gateway
from service.errors import CallerError, GatewayError
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


class Unauthenticated(gateway.CredentialRefused):
    """Send a known token as `Authorization: Bearer <token>`."""

    code = "UNAUTHENTICATED"


class PoliciesVersionRequired(CallerError):
    """Send the version of the policies that you have read, as the header If-Match."""

    code = "POLICIES_VERSION_REQUIRED"


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
        gateway.CallerError: HTTPStatus.BAD_REQUEST,
        gateway.SqlEmpty: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.SqlTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        gateway.SqlTooDeep: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.SqlManyStatements: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.SqlSyntaxError: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.SqlInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.StatementNotAllowed: HTTPStatus.FORBIDDEN,
        gateway.SessionRequired: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.SessionNotFound: HTTPStatus.NOT_FOUND,
        gateway.SessionViewNotFound: HTTPStatus.NOT_FOUND,
        gateway.SessionSettingRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.SessionTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.TooManySessions: HTTPStatus.TOO_MANY_REQUESTS,
        gateway.QueryTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.ReadOptionInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.TableAmbiguous: HTTPStatus.CONFLICT,
        gateway.TableNotFound: HTTPStatus.NOT_FOUND,
        gateway.TableAccessDenied: HTTPStatus.FORBIDDEN,
        gateway.ViewChanged: HTTPStatus.FORBIDDEN,
        gateway.ColumnNotFound: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.ParameterMissing: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.ParameterUnused: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.ParameterInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.RequestIdReused: HTTPStatus.CONFLICT,
        gateway.QueryNotFound: HTTPStatus.NOT_FOUND,
        gateway.ChunkNotFound: HTTPStatus.NOT_FOUND,
        gateway.ResultExpired: HTTPStatus.GONE,
        gateway.TooManyQueries: HTTPStatus.TOO_MANY_REQUESTS,
        gateway.QuotaExhausted: HTTPStatus.TOO_MANY_REQUESTS,
        gateway.TooManyIngests: HTTPStatus.TOO_MANY_REQUESTS,
        gateway.IngestCanceled: HTTPStatus.CONFLICT,
        gateway.IngestNotFound: HTTPStatus.NOT_FOUND,
        gateway.IngestInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.UpsertTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.WriteSchemaInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.SchemaMismatch: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.CreationInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.RecordsInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.WriteNotAllowed: HTTPStatus.FORBIDDEN,
        gateway.SourceNotAllowed: HTTPStatus.FORBIDDEN,
        gateway.SourceDenied: HTTPStatus.FORBIDDEN,
        gateway.SourceInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.SourceChanged: HTTPStatus.CONFLICT,
        gateway.StreamNotFound: HTTPStatus.NOT_FOUND,
        gateway.StreamInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.GrantRevoked: HTTPStatus.FORBIDDEN,
        gateway.StreamFailed: HTTPStatus.INTERNAL_SERVER_ERROR,
        gateway.TableChanged: HTTPStatus.CONFLICT,
        gateway.UpsertNotPossible: HTTPStatus.CONFLICT,
        gateway.MaintenanceNotFound: HTTPStatus.NOT_FOUND,
        gateway.MaintenanceRunning: HTTPStatus.CONFLICT,
        gateway.MaintenanceBelowFloor: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.MaintenanceNotSafe: HTTPStatus.CONFLICT,
        gateway.MaintenanceFailed: HTTPStatus.INTERNAL_SERVER_ERROR,
        gateway.StreamSourceDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.CommittableVersionUnknown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.CommittableUnreadable: HTTPStatus.INTERNAL_SERVER_ERROR,
        gateway.WrittenFileMissing: HTTPStatus.INTERNAL_SERVER_ERROR,
        gateway.CredentialRefused: HTTPStatus.UNAUTHORIZED,
        gateway.ApiKeyInvalid: HTTPStatus.UNAUTHORIZED,
        gateway.ApiKeyExpired: HTTPStatus.UNAUTHORIZED,
        gateway.ApiKeyRevoked: HTTPStatus.UNAUTHORIZED,
        gateway.AccessTokenInvalid: HTTPStatus.UNAUTHORIZED,
        gateway.AccessTokenExpired: HTTPStatus.UNAUTHORIZED,
        gateway.CertificateInvalid: HTTPStatus.UNAUTHORIZED,
        gateway.TooManyFailures: HTTPStatus.TOO_MANY_REQUESTS,
        gateway.AdminRequired: HTTPStatus.FORBIDDEN,
        gateway.PoliciesChanged: HTTPStatus.PRECONDITION_FAILED,
        gateway.PoliciesInvalid: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.ApiKeyNotFound: HTTPStatus.NOT_FOUND,
        gateway.QueryEnded: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.QueryFailed: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.QueryTimedOut: HTTPStatus.GATEWAY_TIMEOUT,
        gateway.QueryCanceled: HTTPStatus.CONFLICT,
        gateway.ReplicaLost: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.ResultTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.PartDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.EngineLost: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.QueryQuarantined: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.EngineNotReady: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.CatalogDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.TableUnreadable: HTTPStatus.UNPROCESSABLE_ENTITY,
        gateway.MetricsStoreDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.FilterCacheDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.StorageDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.NoRoomForResult: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.ExecutorsFailed: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.VerificationFailed: HTTPStatus.INTERNAL_SERVER_ERROR,
        gateway.FilterCollectionTimedOut: HTTPStatus.INTERNAL_SERVER_ERROR,
        gateway.AuthenticationDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.AuditLogFull: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.PoliciesDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.GatewayBusy: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.ShuttingDown: HTTPStatus.SERVICE_UNAVAILABLE,
        gateway.CannotStart: HTTPStatus.INTERNAL_SERVER_ERROR,
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
