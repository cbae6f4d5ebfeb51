"""The one shape of every answer about a query, whatever its state."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from api.http.schemas.problem import ProblemError
from api.http.schemas.queries.progress import ProgressAnswer
from api.http.schemas.wire import WireModel
from api.http.schemas.write_answer import WriteAnswer
from service.model.query.progress import QueuePlace
from service.model.query.query import QueryState
from service.model.query.results import ResultFormat
from service.model.query.reuse import Reused, ReuseKind

_NULL_WITHOUT_RESULT = (
    "null until there is a result, if the query failed or was canceled, and once the result is gone: its "
    "time to live ended, newer results needed its room, or the gateway was restarted"
)


class QueryErrorAnswer(WireModel):
    """Why a query did not succeed."""

    code: str
    detail: str
    errors: list[ProblemError]


class QueueAnswer(WireModel):
    """Where a query waits."""

    position: Annotated[
        int, Field(description="1: the next of those that wait; 0: the query is being planned")
    ]
    estimated_wait_ms: Annotated[
        int | None, Field(description="by the times of earlier queries; null until some were measured")
    ]
    group: Annotated[str, Field(description="its resource group")]


class StatusAnswer(WireModel):
    """The state of a query. Times are in milliseconds."""

    state: QueryState
    queue: Annotated[
        QueueAnswer | None,
        Field(
            description="null unless the query is QUEUED; at another replica, as that one reported it last"
        ),
    ]
    error: QueryErrorAnswer | None
    queued_ms: int
    elapsed_ms: int
    progress: Annotated[
        ProgressAnswer | None,
        Field(description="null unless the query runs; at another replica, as that one reported it last"),
    ]


class ColumnAnswer(WireModel):
    """One column; `type` is SQL."""

    name: str
    type: str
    nullable: bool


class ManifestAnswer(WireModel):
    """The shape of the whole result. `totalByteCount` is the size of its rows in Arrow."""

    format: ResultFormat
    columns: list[ColumnAnswer]
    total_row_count: int
    total_byte_count: int
    chunk_count: int
    truncated: Annotated[bool, Field(description="rows were left out: rowLimit or byteLimit was reached")]


class ChunkAnswer(WireModel):
    """One chunk of the rows. Follow `nextChunkLink` until it is null."""

    chunk_index: Annotated[int | None, Field(description="null: no rows are in this answer")]
    row_offset: int
    row_count: int
    rows: list[list[Any]]
    next_chunk_link: str | None


class SelectionAnswer(WireModel):
    """How many were selected, and how many there are."""

    total: int
    selected: int


class PruningAnswer(WireModel):
    """The number of filters that the query could have, and what all its scans read of the total."""

    filters: Annotated[int, Field(description="candidates, applied or not")]
    applied: int
    cached: Annotated[int, Field(description="applied filters with keys from the filter cache")]
    data_files: SelectionAnswer
    bytes: SelectionAnswer


class LinksAnswer(WireModel):
    """Addresses of the query."""

    self: str
    explain: str
    cancel: str


class ReusedAnswer(WireModel):
    """The earlier query that this one was answered from, and how old its result was then.

    `REFRESHED`: its groups were brought up to date from the files that were added to a table.
    """

    kind: ReuseKind
    from_: Annotated[UUID, Field(alias="from", description="id of the query that ran")]
    age_ms: int


def reused_answer(reused: Reused | None) -> ReusedAnswer | None:
    """Returns the same as it is on the wire."""
    if reused is None:
        return None
    return ReusedAnswer(kind=reused.kind, from_=reused.query_id, age_ms=reused.age_ms)


class QueryAnswer(WireModel):
    """A query, as it is now."""

    query_id: UUID
    status: StatusAnswer
    sent_before: Annotated[
        bool, Field(description="this requestId was sent before, and the query did not run again")
    ]
    reused: Annotated[
        ReusedAnswer | None,
        Field(description="the earlier result that this one is; null: the query ran, or has not ended"),
    ]
    manifest: Annotated[ManifestAnswer | None, Field(description=_NULL_WITHOUT_RESULT)]
    result: Annotated[ChunkAnswer | None, Field(description=_NULL_WITHOUT_RESULT)]
    pruning: Annotated[PruningAnswer | None, Field(description="null until the query is final")]
    write: Annotated[
        WriteAnswer | None, Field(description="what a statement that writes has begun; null: nothing")
    ]
    links: LinksAnswer


def queue_answer(place: QueuePlace | None) -> QueueAnswer | None:
    """Returns the place as it is on the wire."""
    if place is None:
        return None
    return QueueAnswer(position=place.position, estimated_wait_ms=place.estimated_wait_ms, group=place.group)
