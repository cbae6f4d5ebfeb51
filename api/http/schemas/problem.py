"""RFC 9457: what every error answer looks like."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.evolutions import EvolutionAnswer
from api.http.schemas.ingest_answer import CommitAnswer
from api.http.schemas.wire import WireModel


class ProblemError(WireModel):
    """One fault, with what is known of where it is and what would be right."""

    detail: str
    pointer: Annotated[str | None, Field(description="JSON pointer into the request")] = None
    line: Annotated[int | None, Field(description="line in the SQL text or the body, from 1")] = None
    column: Annotated[int | None, Field(description="column in that line, from 1")] = None
    row: Annotated[int | None, Field(description="row of a body without lines, from 1")] = None
    field: Annotated[str | None, Field(description="the column of the table")] = None
    rule: Annotated[str | None, Field(description="the rule of write schemas that is broken; stable")] = None
    nearest: Annotated[list[str] | None, Field(description="the names that look most like the one sent")] = (
        None
    )


class Problem(WireModel):
    """An error, as `application/problem+json`."""

    type: Annotated[str, Field(description="a reference to this code's entry in the documentation")]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    code: Annotated[str, Field(description="stable; docs/reference/errors.md lists every one")]
    instance: Annotated[str, Field(description="the path that was asked for")]
    errors: list[ProblemError]
    evolutions: Annotated[
        list[EvolutionAnswer] | None, Field(description="tables that were made or changed before; that stays")
    ] = None
    query_id: Annotated[UUID | None, Field(description="the query that failed; /explain knows it")] = None
    ingest_id: Annotated[UUID | None, Field(description="the ingest that failed; /ingest/{id} knows it")] = (
        None
    )
    commits: Annotated[
        list[CommitAnswer] | None,
        Field(description="all parts of an ingest of which some failed and others did not; those stay"),
    ] = None
    trace_id: Annotated[
        str | None,
        Field(description="of the request, if traces are recorded or it came with a `traceparent`"),
    ] = None
    note: Annotated[str | None, Field(description="what to send again where there are `commits`")] = None
