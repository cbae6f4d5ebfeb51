"""Turns errors into problem+json answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any
from uuid import UUID

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.http.problems.http_errors import (
    BodyTooLarge,
    BodyTooSlow,
    InvalidRequest,
    MethodNotAllowed,
    NotJson,
    RangeNotSatisfiable,
    RouteNotFound,
    TooManyBodies,
    TooManyConnections,
    TooManyEventStreams,
    TooManyRequests,
    status_of,
    status_of_code,
)
from api.http.problems.validation_faults import faults_of
from api.http.schemas.ingests.evolutions import evolution_answer
from api.http.schemas.ingests.ingest_answer import DEAD_LETTERS_APART, FAILED_ALONE, commit_answer
from api.http.schemas.write_answer import write_answer
from service.errors.credential_errors import CredentialFault, CredentialRefused, TooManyFailures
from service.errors.gateway_error import CallerError, GatewayError, PartDown
from service.errors.ingest_errors import IngestInvalid, TooManyIngests
from service.errors.maintenance_errors import MaintenanceBelowFloor
from service.errors.policy_errors import PoliciesInvalid
from service.errors.query_errors import QueryQuarantined, TooManyQueries, WriteOutcomeUnknown, WriteRunning
from service.errors.session_errors import TooManySessions
from service.errors.statement_errors import ColumnNotFound, SqlSyntaxError
from service.errors.table_errors import TableNotFound, TableUnreadable
from service.faults import Fault
from service.model.ingest.ingest import IngestRecord
from service.model.query.query import QueryError
from service.model.tables.schema_changes import TableEvolution
from service.model.writes.writes import WriteRecord
from service.tracing import trace_id

MEDIA_TYPE = "application/problem+json"
_ACRONYMS = frozenset({"http", "id", "json", "sql", "url"})
RETRY_AFTER_S = 5


def errors_of(error: GatewayError) -> list[dict[str, Any]]:
    """Returns what an error knows beyond its sentence: places and nearest names."""
    match error:
        case InvalidRequest() | PoliciesInvalid() | MaintenanceBelowFloor():
            return [fault_entry(fault) for fault in error.faults]
        case SqlSyntaxError():
            entry: dict[str, Any] = {"line": error.line, "column": error.column}
        case ColumnNotFound():
            entry = {"line": error.line, "column": error.column, "nearest": list(error.nearest)}
        case IngestInvalid():
            return [fault_entry(violation.fault) for violation in error.violations]
        case TableNotFound():
            missing = (error, *error.others)
            return [{"detail": source.detail, "nearest": list(source.nearest)} for source in missing]
        case _:
            return []
    return [{"detail": error.detail} | {name: value for name, value in entry.items() if value is not None}]


def fault_entry(fault: Fault) -> dict[str, Any]:
    """Returns the fault as an entry of a problem's `errors`, without the fields that are None."""
    known = {field.name: getattr(fault, field.name) for field in fields(fault)}
    return {name: value for name, value in known.items() if value is not None}


def problem_response(
    error: GatewayError, instance: str, query_id: UUID | None = None, write: WriteRecord | None = None
) -> Response:
    """The answer for an error; `instance` is the path that was asked for.

    `write` is what the statement had begun to write before it failed.
    """
    ids: dict[str, object] = {} if query_id is None else {"queryId": query_id}
    more = ids | _evolutions(error.evolutions) | _begun(write)
    return _respond(
        status_of(error), error.code, error.detail, instance, errors_of(error), more, headers_of(error)
    )


def recorded_problem_response(
    error: QueryError, instance: str, query_id: UUID, write: WriteRecord | None = None
) -> Response:
    """The answer for an error that is known only from the query's record."""
    status = status_of_code(error.code)
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status == 503 else {}
    more = {"queryId": query_id} | _begun(write)
    return _respond(status, error.code, error.detail, instance, [], more, headers)


def _begun(write: WriteRecord | None) -> dict[str, object]:
    """Returns what a statement had begun to write before it failed: it may have been committed."""
    answer = write_answer(write)
    return {} if answer is None else {"write": answer.model_dump(by_alias=True, mode="json")}


def failed_ingest_response(record: IngestRecord, instance: str) -> Response:
    """The answer for an accepted ingest that failed for at least one of its tables."""
    failed = [commit for commit in record.commits if commit.error_code is not None]
    code, detail = failed[0].error_code or "", failed[0].error_detail or ""
    status = status_of_code(code)
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status == 503 else {}
    errors = [
        {"detail": f"{commit.key.table}: {commit.error_code}: {commit.error_detail}"} for commit in failed
    ]
    ids: dict[str, object] = {"ingestId": record.ingest_id}
    more = ids | _parts(record) | _evolutions(record.evolutions)
    return _respond(status, code, detail, instance, errors, more, headers)


def _parts(record: IngestRecord) -> dict[str, object]:
    """Lists all parts of a failed ingest; empty if every part failed."""
    if all(commit.error_code is not None for commit in record.commits):
        return {}
    # A caller who sends the whole failed request again would write these parts twice.
    commits = [commit_answer(commit).model_dump(by_alias=True) for commit in record.commits]
    note = f"{FAILED_ALONE} {DEAD_LETTERS_APART}" if record.rejected.count else FAILED_ALONE
    return {"commits": commits, "note": note}


def _evolutions(made: Sequence[TableEvolution]) -> dict[str, object]:
    """Lists the table changes that were committed before the error, as the ingest's answer shows them."""
    reported = [evolution_answer(evolution) for evolution in made]
    return {"evolutions": [evolution.model_dump(by_alias=True) for evolution in reported]} if reported else {}


def headers_of(error: GatewayError) -> dict[str, str]:
    """The headers that an error asks for."""
    match error:
        case (
            TooManyQueries()
            | TooManyIngests()
            | TooManyFailures()
            | TooManySessions()
            | QueryQuarantined()
            | WriteRunning()
        ):
            return {"Retry-After": str(error.retry_after_s)}
        case TooManyBodies() | TooManyRequests() | TooManyEventStreams():
            return {"Retry-After": "1"}
        case TableUnreadable() | WriteOutcomeUnknown():
            # Nobody may send a write again without its requestId.
            return {}
        case PartDown():
            return {"Retry-After": str(RETRY_AFTER_S)}
        case TooManyConnections():
            return {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"}
        case BodyTooSlow():
            # The rest of the body must not be read as the next request.
            return {"Connection": "close"}
        case CredentialRefused():
            return {"WWW-Authenticate": challenge(error)}
        case _:
            return _of_part(error)


def _of_part(error: GatewayError) -> dict[str, str]:
    if isinstance(error, RangeNotSatisfiable):
        return {"Content-Range": f"bytes */{error.byte_count}"}
    return {}


def challenge(error: CredentialRefused) -> str:
    """Returns the challenge of RFC 6750. It names an error only if the request had credentials.

    >>> challenge(CredentialRefused(reason=CredentialFault.MISSING))
    'Bearer realm="sluice"'
    """
    return 'Bearer realm="sluice"' + (
        "" if error.reason is CredentialFault.MISSING else ', error="invalid_token"'
    )


def _title(code: str) -> str:
    """The code as people write it.

    >>> _title("SQL_TOO_DEEP"), _title("NOT_JSON")
    ('SQL too deep', 'Not JSON')
    """
    words = code.capitalize().split("_")
    return " ".join(word.upper() if word.lower() in _ACRONYMS else word for word in words)


def _respond(
    status: int,
    code: str,
    detail: str,
    instance: str,
    errors: Sequence[Mapping[str, Any]],
    more: Mapping[str, object],
    headers: Mapping[str, str],
) -> Response:
    problem: dict[str, object] = {
        "type": f"urn:sluice:error:{code}",
        "title": _title(code),
        "status": int(status),
        "detail": detail,
        "code": code,
        "instance": instance,
        "errors": errors,
        **more,
    }
    if (traced := trace_id()) is not None:
        problem["traceId"] = traced
    return Response(_json(problem), int(status), dict(headers), MEDIA_TYPE)


def _json(problem: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(problem)
    except orjson.JSONEncodeError:
        # JSON can spell a lone surrogate ("\ud800") that UTF-8 cannot; it came in with a name or a value.
        return orjson.dumps(_encodable(problem))


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case Mapping():
            return {name: _encodable(item) for name, item in value.items()}
        case list():
            return [_encodable(item) for item in value]
        case _:
            return value


def install_problems(app: FastAPI) -> None:
    """Makes every error of this app a problem+json answer."""
    app.add_exception_handler(GatewayError, _gateway_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)


async def _gateway_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, GatewayError)
    return problem_response(error, request.url.path)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if not isinstance(error.body, dict) and any(fault["loc"][0] == "body" for fault in error.errors()):
        # No field can be named: the body is not JSON, is empty, or is not an object.
        return problem_response(_no_object(error), request.url.path)
    return problem_response(InvalidRequest(faults_of(error)), request.url.path)


def _no_object(error: RequestValidationError) -> GatewayError:
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return NotJson(f"The body is not JSON: {first['ctx']['error']} (character {first['loc'][1]}).")
    if first["type"] == "missing":
        return NotJson("The body is empty. Send one JSON object.")
    return InvalidRequest([Fault("The body is JSON, but not an object. Send one JSON object.", "")])


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = problem_response(_named(error, request.url.path), request.url.path)
    response.headers.update(error.headers or {})
    return response


def _named(error: HTTPException, path: str) -> GatewayError:
    match error.status_code:
        case 400:
            # Raised by FastAPI for a body that cannot be decoded or is nested too deeply, or by the gateway.
            return NotJson(error.detail if error.detail.startswith("The body") else None)
        case 404:
            return RouteNotFound()
        case 405:
            return MethodNotAllowed()
        case 408:
            return BodyTooSlow()
        case 413:
            return BodyTooLarge()
        case 422:
            return InvalidRequest([Fault(error.detail, "")])
        case 429:
            return TooManyIngests() if path == "/ingest" else TooManyBodies()
        case _:
            return CallerError(str(error.detail))
