"""Failures as SQL clients get them: a stable code, an SQLSTATE, and one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import structlog

from service import errors as gateway
from service.errors import GatewayError
from service.model.query.query import QueryError

_log = structlog.stdlib.get_logger("api.sql_protocols")
GENERAL = "HY000"

SQL_STATES: Mapping[type[GatewayError], str] = MappingProxyType(
    {
        GatewayError: GENERAL,
        gateway.CallerError: "42000",
        gateway.SqlSyntaxError: "42601",
        gateway.SqlTooLarge: "54001",
        gateway.SqlTooDeep: "54001",
        gateway.QueryTooLarge: "54000",
        gateway.TableNotFound: "42S02",
        gateway.ColumnNotFound: "42S22",
        gateway.TableAccessDenied: "42501",
        gateway.StatementNotAllowed: "42501",
        gateway.WriteNotAllowed: "42501",
        gateway.AdminRequired: "42501",
        gateway.ParameterMissing: "07002",
        gateway.ParameterUnused: "07002",
        gateway.ParameterInvalid: "22023",
        gateway.SessionNotFound: "08003",
        gateway.SessionSettingRefused: "42602",
        gateway.TooManySessions: "08004",
        gateway.TooManyQueries: "53300",
        gateway.CredentialRefused: "28000",
        gateway.TooManyFailures: "28000",
        gateway.QueryNotFound: "24000",
        gateway.ChunkNotFound: "24000",
        gateway.ResultExpired: "24000",
        gateway.QueryCanceled: "HY008",
        gateway.QueryTimedOut: "HYT00",
        gateway.ResultTooLarge: "54000",
        gateway.PartDown: "08S01",
    }
)
"""The SQLSTATE of each class of errors; others have that of the nearest class above."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call failed. `code` is a stable code of docs/reference/errors.md."""

    code: str
    sql_state: str
    detail: str

    @property
    def text(self) -> str:
        """The text that a client shows."""
        return f"{self.code}: {self.detail}"


def failure_of(error: BaseException) -> Failure:
    """Returns the failure of an error. One that is not the gateway's is logged, and says nothing of itself.

    >>> failure_of(gateway.QueryTimedOut("It took 3 s.")).text
    'QUERY_TIMED_OUT: It took 3 s.'
    """
    if not isinstance(error, GatewayError):
        _log.error("protocol_call_crashed", exc_info=error)
        error = GatewayError()
    return Failure(error.code, sql_state_of(type(error)), error.detail)


def recorded_failure(error: QueryError) -> Failure:
    """Returns the failure that a query's record has."""
    return Failure(error.code, _BY_CODE.get(error.code, GENERAL), error.detail)


def sql_state_of(error_type: type[GatewayError]) -> str:
    """Returns the SQLSTATE of a class of errors.

    >>> sql_state_of(gateway.TableNotFound), sql_state_of(gateway.QuotaExhausted)
    ('42S02', '53300')
    """
    return next(SQL_STATES[known] for known in error_type.__mro__ if known in SQL_STATES)


def _states_by_code(error_type: type[GatewayError]) -> dict[str, str]:
    found: dict[str, str] = {}
    for subclass in error_type.__subclasses__():
        found |= _states_by_code(subclass)
    return found | {error_type.code: sql_state_of(error_type)}


_BY_CODE = _states_by_code(GatewayError)
