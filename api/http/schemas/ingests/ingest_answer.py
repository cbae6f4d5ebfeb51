"""The answer of POST /ingest and GET /ingest/{id}."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.ingests.evolutions import EvolutionAnswer, evolution_answer
from api.http.schemas.wire import WireModel
from service.model.ingest.ingest import BadRecord, IngestCommit, IngestRecord, IngestState, WrittenTarget

NOT_TOGETHER = (
    "Each table and branch is committed on its own: one commit can succeed while another waits or fails."
)
FAILED_ALONE = (
    f"{NOT_TOGETHER} Send only the records for those with an error again, under a new requestId: all other"
    " records of the request would be written twice."
)
DEAD_LETTERS_APART = (
    "Records that did not fit belong to the commit of the dead letters, not to that of the table that they"
    " were sent to: send them again only if the commit of the dead letters has the error."
)
KEYS_ALONE = "Rows with these keys were deleted, and none was written."
WHOLE_ROWS = "Whole rows were replaced: columns that were not written are NULL in them now."


class UpsertAnswer(WireModel):
    """How rows were replaced or deleted."""

    equality_field_ids: Annotated[
        list[int], Field(description="field ids of the columns that identify a row")
    ]
    order_field_id: Annotated[
        int | None, Field(description="field id of the column by which late records lose; null: none")
    ] = None
    note: Annotated[str, Field(description="what happens to columns outside the write schema")]


class WriteTargetAnswer(WireModel):
    """The data files and records that were written under one write schema."""

    write_schema_column_ids: Annotated[
        list[int] | None, Field(description="field ids in their order; null: the whole table schema")
    ]
    sort_order_id: Annotated[int | None, Field(description="id of the requested sort order; null: none")] = (
        None
    )
    data_files: int
    records: Annotated[int, Field(description="for an upsert: the last record of each key, if it has a row")]
    deleted_keys: Annotated[
        int,
        Field(description="keys whose last record deletes; it is not known how many rows had these keys"),
    ] = 0
    late_records: Annotated[
        int,
        Field(
            description="of these records and keys, those that lost by `orderBy` against a row in the table "
            "or a record of another request; known once it is committed"
        ),
    ] = 0
    upsert: Annotated[UpsertAnswer | None, Field(description="null for an append")] = None


class CommitError(WireModel):
    """Why one table's part was not committed."""

    code: str
    detail: str


class CommitAnswer(WireModel):
    """The part of one table and branch. Tables are not committed together."""

    table: str
    branch: str
    snapshot_id: Annotated[int | None, Field(description="null until it is committed")]
    added_records: int
    added_data_files: int
    added_bytes: int
    deleted_keys: Annotated[int, Field(description="those of all write targets")] = 0
    late_records: Annotated[int, Field(description="those of all write targets")] = 0
    write_targets: list[WriteTargetAnswer]
    error: CommitError | None = None
    postponed: Annotated[
        str | None,
        Field(
            description="why the commit waits, if something that it needs is missing; the gateway tries again"
        ),
    ] = None


class BadRecordAnswer(WireModel):
    """A record that does not fit, and where it is. Numbers count from 1."""

    detail: str
    pointer: Annotated[str | None, Field(description="JSON pointer into the request")] = None
    line: int | None = None
    column: int | None = None
    row: int | None = None


class RejectedAnswer(WireModel):
    """How many records went to the dead letters, and the first hundred of them."""

    count: int = 0
    samples: list[BadRecordAnswer] = Field(default_factory=list)


class IngestLinks(WireModel):
    """The ingest's own address."""

    self: str


class IngestAnswer(WireModel):
    """An ingest, as it is now."""

    ingest_id: UUID
    state: IngestState
    commits: list[CommitAnswer]
    rejected: RejectedAnswer
    evolutions: Annotated[
        list[EvolutionAnswer], Field(description="tables that this ingest created or changed")
    ]
    note: Annotated[str | None, Field(description="what to know about several commits; null for one")] = None
    links: IngestLinks


def ingest_answer(record: IngestRecord) -> IngestAnswer:
    """Returns the record as it is on the wire."""
    return IngestAnswer(
        ingest_id=record.ingest_id,
        state=record.state,
        commits=[commit_answer(commit) for commit in record.commits],
        rejected=RejectedAnswer(
            count=record.rejected.count, samples=[_bad(sample) for sample in record.rejected.samples]
        ),
        evolutions=[evolution_answer(evolution) for evolution in record.evolutions],
        note=NOT_TOGETHER if len(record.commits) > 1 else None,
        links=IngestLinks(self=f"/ingest/{record.ingest_id}"),
    )


def _bad(bad: BadRecord) -> BadRecordAnswer:
    pointer = bad.place or None
    return BadRecordAnswer(detail=bad.reason, pointer=pointer, line=bad.line, column=bad.column, row=bad.row)


def commit_answer(commit: IngestCommit) -> CommitAnswer:
    """Returns one table's part as it is on the wire."""
    failure = (
        CommitError(code=commit.error_code, detail=commit.error_detail or "") if commit.error_code else None
    )
    return CommitAnswer(
        table=str(commit.key.table),
        branch=commit.key.branch,
        snapshot_id=commit.snapshot_id,
        added_records=sum(target.record_count for target in commit.targets),
        added_data_files=sum(target.data_file_count for target in commit.targets),
        added_bytes=sum(target.byte_count for target in commit.targets),
        deleted_keys=sum(target.delete_count for target in commit.targets),
        late_records=sum(target.late_count for target in commit.targets),
        write_targets=[_target(target) for target in commit.targets],
        error=failure,
        # A failed part has its error there. A committed part may still have the reason why it had to wait.
        postponed=commit.error_detail if failure is None and commit.snapshot_id is None else None,
    )


def _target(target: WrittenTarget) -> WriteTargetAnswer:
    return WriteTargetAnswer(
        write_schema_column_ids=None if target.column_ids is None else list(target.column_ids),
        sort_order_id=target.sort_order_id,
        data_files=target.data_file_count,
        records=target.record_count,
        deleted_keys=target.delete_count,
        late_records=target.late_count,
        upsert=_upsert(target),
    )


def _upsert(target: WrittenTarget) -> UpsertAnswer | None:
    ids = list(target.equality_field_ids)
    note = KEYS_ALONE if target.delete_count and not target.record_count else WHOLE_ROWS
    order = target.order_field_id
    return UpsertAnswer(equality_field_ids=ids, order_field_id=order, note=note) if ids else None
