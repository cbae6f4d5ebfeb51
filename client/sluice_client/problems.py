"""Reads an error answer: RFC 9457 from the gateway, or anything from a proxy in front of it."""

from __future__ import annotations

from uuid import UUID

from sluice_client.calls import Answer
from sluice_client.error_classes import error_of
from sluice_client.errors import GatewayError, SluiceError, UnexpectedAnswer
from sluice_client.json_fields import Fields, fields_of
from sluice_client.reported_problem import Fault, Problem

_MEDIA_TYPE = "application/problem+json"


def failure_of(answer: Answer, base_url: str, request_id: UUID | None = None) -> SluiceError | None:
    """Returns the error that an answer reports, or None if it is a success."""
    if 200 <= answer.status < 300:
        return None
    if 300 <= answer.status < 400:
        # Not followed: the credentials are for this address only.
        return UnexpectedAnswer(
            f"the answer is a redirect ({answer.status}), which is not followed: use the address it leads to",
            status=answer.status,
        )
    if answer.media_type != _MEDIA_TYPE:
        kind = answer.media_type[:80] or "no content type"
        return UnexpectedAnswer(
            f"the answer is {answer.status} with {kind!r}, so it is not from a gateway", status=answer.status
        )
    try:
        return _error(answer, base_url, request_id)
    except UnexpectedAnswer as damaged:
        return UnexpectedAnswer(f"the answer is {answer.status}, but {damaged}", status=answer.status)


def faults_of(fields: Fields) -> tuple[Fault, ...]:
    """Returns the faults that a problem, or the error of a query, lists."""
    return tuple(
        Fault(
            detail=entry.optional_text("detail") or "",
            pointer=entry.optional_text("pointer"),
            line=entry.optional_integer("line"),
            column=entry.optional_integer("column"),
            row=entry.optional_integer("row"),
            field=entry.optional_text("field"),
            rule=entry.optional_text("rule"),
            nearest=entry.texts("nearest"),
        )
        for entry in fields.objects("errors")
    )


def explain_url(base_url: str, query_id: UUID | None) -> str | None:
    """Returns the address of a query's explanation.

    >>> explain_url("http://gateway:8080/", UUID(int=1))
    'http://gateway:8080/explain/00000000-0000-0000-0000-000000000001'
    """
    return None if query_id is None else f"{base_url.rstrip('/')}/explain/{query_id}"


def retry_after_s(answer: Answer) -> float | None:
    """Returns the seconds of `Retry-After`, or None. A date is not read: no gateway sends one.

    >>> retry_after_s(Answer(503, {"retry-after": "5"}, b"")), retry_after_s(Answer(503, {}, b""))
    (5.0, None)
    """
    text = answer.headers.get("retry-after", "").strip()
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _error(answer: Answer, base_url: str, request_id: UUID | None) -> GatewayError:
    fields = fields_of(answer)
    query_id = fields.optional_uuid("queryId")
    return error_of(
        Problem(
            code=fields.text("code"),
            detail=fields.text("detail"),
            status=answer.status,
            faults=faults_of(fields),
            query_id=query_id,
            ingest_id=fields.optional_uuid("ingestId"),
            retry_after_s=retry_after_s(answer),
            request_id=request_id,
            log_id=answer.headers.get("x-request-id"),
            explain_url=explain_url(base_url, query_id),
            commits=tuple(entry.raw() for entry in fields.objects("commits")),
            note=fields.optional_text("note"),
            document=fields.raw(),
        )
    )
