"""The answer of POST /ingest and GET /ingest/{id}."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.evolutions import EvolutionAnswer, evolution_answer
from api.http.schemas.wire import WireModel
from service.model.ingest.ingest import BadRecord, IngestCommit, IngestRecord, IngestState, WrittenTarget

NOT_TOGETHER = (
    "Tables and branches are committed each by itself: one can be in its table while another waits or failed."
)
FAILED_ALONE = (
    f"{NOT_TOGETHER} Send only what was for those with an error again, under a new requestId: whatever else"
    " the request had would be written twice."
)
LETTERS_APART = (
    "Records that did not fit are the part of the dead letters, not of the table that they were sent to: send"
    " them again only if that part has the error."
)
WHOLE_ROWS = "Rows were replaced whole: columns that were not written are NULL in them now."


class UpsertAnswer(WireModel):
    """How rows were replaced."""

    equality_field_ids: Annotated[list[int], Field(description="field ids of what tells rows apart")]
    note: Annotated[str, Field(description="what becomes of columns outside of the write schema")]


class WriteTargetAnswer(WireModel):
    """What one write schema put into data files."""

    write_schema_column_ids: Annotated[
        list[int] | None, Field(description="field ids in their order; null: the whole table schema")
    ]
    sort_order_id: Annotated[
        int | None, Field(description="of the sort order that was asked for; null: none was")
    ] = None
    data_files: int
    records: Annotated[int, Field(description="of an upsert: one for each key, the last")]
    upsert: Annotated[UpsertAnswer | None, Field(description="null for an append")] = None


class CommitError(WireModel):
    """Why one table's part was not committed."""

    code: str
    detail: str


class CommitAnswer(WireModel):
    """What one table and branch got. Tables are not committed together."""

    table: str
    branch: str
    snapshot_id: Annotated[int | None, Field(description="null until it is committed")]
    added_records: int
    added_data_files: int
    added_bytes: int
    write_targets: list[WriteTargetAnswer]
    error: CommitError | None = None
    postponed: Annotated[
        str | None, Field(description="why it is not committed yet, where something is missed; it goes on")
    ] = None


class BadRecordAnswer(WireModel):
    """A record that does not fit, and where it stands: numbers count from 1."""

    detail: str
    pointer: Annotated[str | None, Field(description="JSON pointer into the request")] = None
    line: int | None = None
    column: int | None = None
    row: int | None = None


class RejectedAnswer(WireModel):
    """Records that went to the dead letters, and the first hundred of them."""

    count: int = 0
    samples: list[BadRecordAnswer] = Field(default_factory=list)


class IngestLinks(WireModel):
    """Where to look again."""

    self: str


class IngestAnswer(WireModel):
    """An ingest as it stands."""

    ingest_id: UUID
    state: IngestState
    commits: list[CommitAnswer]
    rejected: RejectedAnswer
    evolutions: Annotated[
        list[EvolutionAnswer], Field(description="tables that this ingest has made or changed")
    ]
    note: Annotated[str | None, Field(description="what to know of several commits; null for one")] = None
    links: IngestLinks


def ingest_answer(record: IngestRecord) -> IngestAnswer:
    """The record on the wire."""
    return IngestAnswer(
        ingest_id=record.ingest_id,
        state=record.state,
        commits=[commit_answer(each) for each in record.commits],
        rejected=RejectedAnswer(
            count=record.rejected.count, samples=[_bad(each) for each in record.rejected.samples]
        ),
        evolutions=[evolution_answer(each) for each in record.evolutions],
        note=NOT_TOGETHER if len(record.commits) > 1 else None,
        links=IngestLinks(self=f"/ingest/{record.ingest_id}"),
    )


def _bad(bad: BadRecord) -> BadRecordAnswer:
    pointer = bad.place or None
    return BadRecordAnswer(detail=bad.reason, pointer=pointer, line=bad.line, column=bad.column, row=bad.row)


def commit_answer(commit: IngestCommit) -> CommitAnswer:
    """One table's part on the wire."""
    failure = (
        CommitError(code=commit.error_code, detail=commit.error_detail or "") if commit.error_code else None
    )
    return CommitAnswer(
        table=str(commit.key.table),
        branch=commit.key.branch,
        snapshot_id=commit.snapshot_id,
        added_records=sum(each.record_count for each in commit.targets),
        added_data_files=sum(each.data_file_count for each in commit.targets),
        added_bytes=sum(each.byte_count for each in commit.targets),
        write_targets=[_target(each) for each in commit.targets],
        error=failure,
        # Of a part that was refused it is the reason, and of one that is committed, how it was before.
        postponed=commit.error_detail if failure is None and commit.snapshot_id is None else None,
    )


def _target(target: WrittenTarget) -> WriteTargetAnswer:
    return WriteTargetAnswer(
        write_schema_column_ids=None if target.column_ids is None else list(target.column_ids),
        sort_order_id=target.sort_order_id,
        data_files=target.data_file_count,
        records=target.record_count,
        upsert=_upsert(target),
    )


def _upsert(target: WrittenTarget) -> UpsertAnswer | None:
    ids = list(target.equality_field_ids)
    return UpsertAnswer(equality_field_ids=ids, note=WHOLE_ROWS) if ids else None
