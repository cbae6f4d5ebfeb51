"""An ingest's state as the gateway reports it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice_client.calls import Answer
from sluice_client.errors import GatewayError, IngestFailed, UnexpectedAnswer
from sluice_client.json_fields import Fields, fields_of
from sluice_client.reported_problem import Fault, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The part of one table and branch. `snapshot_id` is None until it is committed, and if it failed."""

    table: str
    branch: str
    snapshot_id: int | None
    added_records: int
    added_data_files: int
    added_bytes: int
    error_code: str | None
    error_detail: str | None
    late_records: int = 0
    """How many records lost by `order_by`; known once it is committed."""
    postponed: str | None
    """Why the commit waits, if something that it needs is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestResult:
    """An ingest, as it was when the gateway answered."""

    ingest_id: UUID
    request_id: UUID | None
    """The id by which the same records can be sent again without being written twice."""
    state: str
    """`ACCEPTED`: durable, and will be committed. `COMMITTED`: in the tables. `FAILED`."""
    commits: tuple[Commit, ...]
    rejected_count: int
    """How many records went to the dead letters."""
    rejected: tuple[Fault, ...]
    """The first hundred of them."""
    evolutions: Sequence[Mapping[str, Any]]
    """Tables that this ingest created or changed."""
    note: str | None

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot of the only table, if it is committed."""
        return self.commits[0].snapshot_id if len(self.commits) == 1 else None

    @property
    def added_records(self) -> int:
        """The records that were added to all tables."""
        return sum(commit.added_records for commit in self.commits)


def ingest_result(answer: Answer, request_id: UUID | None) -> IngestResult:
    """Reads an answer of POST or GET /ingest.

    Raises:
        UnexpectedAnswer: it is not one.
    """
    fields = fields_of(answer)
    state = fields.text("state")
    if state not in ("ACCEPTED", "COMMITTED", "FAILED"):
        raise UnexpectedAnswer(
            f"the gateway reports the state {state[:40]!r}, which this client does not know"
        )
    rejected = fields.object("rejected")
    return IngestResult(
        ingest_id=fields.uuid("ingestId"),
        request_id=request_id,
        state=state,
        commits=tuple(map(_commit, fields.objects("commits"))),
        rejected_count=rejected.integer("count"),
        rejected=tuple(map(_sample, rejected.objects("samples"))),
        evolutions=tuple(evolution.raw() for evolution in fields.objects("evolutions")),
        note=fields.optional_text("note"),
    )


def ingest_failure(result: IngestResult) -> GatewayError:
    """Returns the error of an ingest that failed for at least one of its tables."""
    failed = next((commit for commit in result.commits if commit.error_code is not None), None)
    return IngestFailed(
        Problem(
            code=failed.error_code if failed is not None and failed.error_code else "INGEST_FAILED",
            detail=f"{failed.table}: {failed.error_detail}" if failed is not None else "The ingest failed.",
            ingest_id=result.ingest_id,
            request_id=result.request_id,
            commits=result.commits,
        )
    )


def _commit(fields: Fields) -> Commit:
    error = fields.optional_object("error")
    return Commit(
        table=fields.text("table"),
        branch=fields.text("branch"),
        snapshot_id=fields.optional_integer("snapshotId"),
        added_records=fields.integer("addedRecords"),
        added_data_files=fields.integer("addedDataFiles"),
        added_bytes=fields.integer("addedBytes"),
        error_code=None if error is None else error.text("code"),
        error_detail=None if error is None else error.text("detail"),
        late_records=fields.optional_integer("lateRecords") or 0,
        postponed=fields.optional_text("postponed"),
    )


def _sample(fields: Fields) -> Fault:
    return Fault(
        detail=fields.text("detail"),
        pointer=fields.optional_text("pointer"),
        line=fields.optional_integer("line"),
        column=fields.optional_integer("column"),
        row=fields.optional_integer("row"),
    )
