"""A query's state as the gateway reports it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from sluice_client.calls import Answer
from sluice_client.error_classes import error_of
from sluice_client.errors import GatewayError, UnexpectedAnswer
from sluice_client.json_fields import Fields, fields_of
from sluice_client.problems import explain_url, faults_of
from sluice_client.query.live import NOTHING_LIVE, Live, live_of
from sluice_client.query.queue_place import QueuePlace, Reused, queue_place_of
from sluice_client.reported_problem import Problem

_OPEN = frozenset({"QUEUED", "RUNNING"})
_FINAL = frozenset({"SUCCEEDED", "FAILED", "CANCELED"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result; `type` is SQL."""

    name: str
    type: str
    is_nullable: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """How many were read, and how many there are."""

    selected: int
    total: int


@dataclass(frozen=True, slots=True)
class Pruning:
    """How many filters the query could have, and what its scans read of the total."""

    filters: int
    applied: int
    cached: int
    data_files: Selection
    bytes: Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The shape of a whole result. `byte_count` is the size of its rows in Arrow."""

    columns: tuple[Column, ...]
    row_count: int
    byte_count: int
    chunk_count: int
    is_truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryStatus:
    """A query, as it was when the gateway answered."""

    query_id: UUID
    state: str
    """`QUEUED`, `RUNNING`, `SUCCEEDED`, `FAILED` or `CANCELED`."""
    queued_ms: int
    elapsed_ms: int
    was_sent_before: bool
    """Whether this `requestId` was sent before, and the query did not run again."""
    reused: Reused | None
    """The earlier query whose result this is; None if this one ran itself, or has not ended."""
    manifest: Manifest | None
    pruning: Pruning | None
    error: GatewayError | None
    live: Live = NOTHING_LIVE
    """How far a query is that has not ended, if the gateway says so."""
    queue: QueuePlace | None = None
    """Where it waits; None unless it is `QUEUED` at the replica that answered."""

    @property
    def is_final(self) -> bool:
        """Whether the query has ended."""
        return self.state not in _OPEN


def query_status(answer: Answer, base_url: str, request_id: UUID | None) -> QueryStatus:
    """Reads an answer of POST, GET or DELETE /query.

    Raises:
        UnexpectedAnswer: it is not one.
    """
    fields = fields_of(answer)
    query_id, status = fields.uuid("queryId"), fields.object("status")
    state, reused = status.text("state"), fields.optional_object("reused")
    if state not in _OPEN | _FINAL:
        raise UnexpectedAnswer(
            f"the gateway reports the state {state[:40]!r}, which this client does not know"
        )
    return QueryStatus(
        query_id=query_id,
        state=state,
        queued_ms=status.integer("queuedMs"),
        elapsed_ms=status.integer("elapsedMs"),
        was_sent_before=fields.boolean("sentBefore"),
        reused=None if reused is None else Reused(reused.uuid("from"), reused.integer("ageMs")),
        manifest=_manifest(fields.optional_object("manifest")),
        pruning=_pruning(fields.optional_object("pruning")),
        error=_error(status.optional_object("error"), query_id, base_url, request_id),
        live=live_of(fields.raw()),
        queue=queue_place_of(status.raw()),
    )


def _manifest(fields: Fields | None) -> Manifest | None:
    if fields is None:
        return None
    manifest = Manifest(
        columns=tuple(
            Column(column.text("name"), column.text("type"), column.boolean("nullable"))
            for column in fields.objects("columns")
        ),
        row_count=fields.integer("totalRowCount"),
        byte_count=fields.integer("totalByteCount"),
        chunk_count=fields.integer("chunkCount"),
        is_truncated=fields.boolean("truncated"),
    )
    if min(manifest.row_count, manifest.byte_count, manifest.chunk_count) < 0:
        raise UnexpectedAnswer("the gateway reports a result of a negative size")
    if manifest.chunk_count > max(manifest.row_count, 1):
        # Otherwise chunks without rows could be read for ever.
        raise UnexpectedAnswer("the gateway reports a result with more chunks than rows")
    return manifest


def _pruning(fields: Fields | None) -> Pruning | None:
    if fields is None:
        return None
    return Pruning(
        filters=fields.integer("filters"),
        applied=fields.integer("applied"),
        cached=fields.integer("cached"),
        data_files=_selection(fields.object("dataFiles")),
        bytes=_selection(fields.object("bytes")),
    )


def _selection(fields: Fields) -> Selection:
    return Selection(fields.integer("selected"), fields.integer("total"))


def _error(
    fields: Fields | None, query_id: UUID, base_url: str, request_id: UUID | None
) -> GatewayError | None:
    if fields is None:
        return None
    return error_of(
        Problem(
            code=fields.text("code"),
            detail=fields.text("detail"),
            faults=faults_of(fields),
            query_id=query_id,
            request_id=request_id,
            explain_url=explain_url(base_url, query_id),
        )
    )
