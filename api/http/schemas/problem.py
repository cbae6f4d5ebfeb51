"""The shape of every error answer (RFC 9457)."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.ingests.evolutions import EvolutionAnswer
from api.http.schemas.ingests.ingest_answer import CommitAnswer
from api.http.schemas.wire import WireModel
from api.http.schemas.write_answer import WriteAnswer


class ProblemError(WireModel):
    """One fault, with its place and the names that would be right, as far as they are known."""

    detail: str
    pointer: Annotated[str | None, Field(description="JSON pointer into the request")] = None
    line: Annotated[int | None, Field(description="line in the SQL text or the body, from 1")] = None
    column: Annotated[int | None, Field(description="column in that line, from 1")] = None
    row: Annotated[int | None, Field(description="row of a body without lines, from 1")] = None
    field: Annotated[str | None, Field(description="the column of the table")] = None
    rule: Annotated[str | None, Field(description="the rule of write schemas that it breaks; stable")] = None
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
    instance: Annotated[str, Field(description="the path of the request")]
    errors: list[ProblemError]
    evolutions: Annotated[
        list[EvolutionAnswer] | None,
        Field(description="tables created or changed before the error; they stay so"),
    ] = None
    query_id: Annotated[UUID | None, Field(description="the query that failed; /explain knows it")] = None
    ingest_id: Annotated[UUID | None, Field(description="the ingest that failed; /ingest/{id} knows it")] = (
        None
    )
    commits: Annotated[
        list[CommitAnswer] | None,
        Field(description="all parts of an ingest, if only some of them failed; the others stay"),
    ] = None
    trace_id: Annotated[
        str | None,
        Field(description="trace of the request, if traces are recorded or it came with a `traceparent`"),
    ] = None
    write: Annotated[
        WriteAnswer | None,
        Field(description="what a statement that writes had begun before it failed, and how that ended"),
    ] = None
    note: Annotated[str | None, Field(description="what to send again where there are `commits`")] = None
