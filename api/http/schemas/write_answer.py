"""The outcome of a statement that writes, as answers have it."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.wire import WireModel
from service.model.writes.writes import WriteKind, WriteRecord, WriteState


class WriteAnswer(WireModel):
    """The change of a statement that writes, and whether it is committed.

    `RUNNING` and `UNKNOWN` are not final. `UNKNOWN`: its engine was lost, and the table does not say yet
    whether it was committed.
    """

    query_id: Annotated[
        UUID, Field(description="the query that wrote: an earlier one, if its requestId was sent again")
    ]
    kind: WriteKind
    table: str
    state: WriteState
    snapshot_id: Annotated[
        str | None, Field(description="the snapshot that it committed; null: none, or not known")
    ]
    rows_affected: Annotated[
        int | None, Field(description="rows inserted, deleted or updated; null: the snapshot does not say it")
    ]


def write_answer(record: WriteRecord | None) -> WriteAnswer | None:
    """Returns a write as it is on the wire."""
    if record is None:
        return None
    outcome = record.outcome
    return WriteAnswer(
        query_id=record.query_id,
        kind=record.write.kind,
        table=str(record.write.table),
        state=outcome.state,
        snapshot_id=None if outcome.snapshot_id is None else str(outcome.snapshot_id),
        rows_affected=outcome.rows_affected,
    )
