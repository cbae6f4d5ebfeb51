"""Failures as SQL clients get them: a stable code, an SQLSTATE, and one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import structlog

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
from service.model.query.query import QueryError

_log = structlog.stdlib.get_logger("api.sql_protocols")
GENERAL = "HY000"

SQL_STATES: Mapping[type[GatewayError], str] = MappingProxyType(
    {
        GatewayError: GENERAL,
        gateway_error.CallerError: "42000",
        statement_errors.SqlSyntaxError: "42601",
        statement_errors.SqlTooLarge: "54001",
        statement_errors.SqlTooDeep: "54001",
        statement_errors.QueryTooLarge: "54000",
        table_errors.TableNotFound: "42S02",
        statement_errors.ColumnNotFound: "42S22",
        policy_errors.TableAccessDenied: "42501",
        statement_errors.StatementNotAllowed: "42501",
        ingest_errors.WriteNotAllowed: "42501",
        policy_errors.AdminRequired: "42501",
        statement_errors.ParameterMissing: "07002",
        statement_errors.ParameterUnused: "07002",
        statement_errors.ParameterInvalid: "22023",
        session_errors.SessionNotFound: "08003",
        session_errors.SessionSettingRefused: "42602",
        session_errors.TooManySessions: "08004",
        query_errors.TooManyQueries: "53300",
        credential_errors.CredentialRefused: "28000",
        credential_errors.TooManyFailures: "28000",
        query_errors.QueryNotFound: "24000",
        query_errors.ChunkNotFound: "24000",
        query_errors.ResultExpired: "24000",
        query_errors.QueryCanceled: "HY008",
        query_errors.QueryTimedOut: "HYT00",
        query_errors.ResultTooLarge: "54000",
        gateway_error.PartDown: "08S01",
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

    >>> failure_of(query_errors.QueryTimedOut("It took 3 s.")).text
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

    >>> sql_state_of(table_errors.TableNotFound), sql_state_of(query_errors.QuotaExhausted)
    ('42S02', '53300')
    """
    return next(SQL_STATES[known] for known in error_type.__mro__ if known in SQL_STATES)


_BY_CODE = {code: sql_state_of(kind) for code, kind in kinds_by_code(GatewayError).items()}
