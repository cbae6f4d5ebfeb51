"""How far a running query is, as the status, the events and the explanation show it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.schemas.wire import WireModel
from service.model.query.progress import EngineProgress, Phase, QueryProgress, ScanProgress

_HIDDEN = "null: a policy hides rows of a table that the query reads"


class StageCount(WireModel):
    """Spark's stages that are known so far. Their number may grow."""

    completed: int
    total: int


class TaskCount(WireModel):
    """The tasks of these stages."""

    completed: int
    running: int
    total: int


class ReadAnswer(WireModel):
    """How much was read so far, and how much the plan selects."""

    read: Annotated[int | None, Field(description="a file counts as soon as a part of it is read")]
    selected: int | None


class ScanProgressAnswer(WireModel):
    """The rows, files and bytes that one scan has read so far. Null: not known, or a policy hides rows."""

    table: Annotated[str | None, Field(description="null: the name is not known")]
    rows: int | None
    data_files: ReadAnswer
    bytes: ReadAnswer


class ProgressAnswer(WireModel):
    """How far a running query is. Tasks that run report rows and bytes about every ten seconds."""

    phase: Phase
    percent: Annotated[
        int,
        Field(description="share of the known tasks that are done; it never falls, and is 99 at most"),
    ]
    stages: Annotated[StageCount | None, Field(description=_HIDDEN)]
    tasks: Annotated[TaskCount | None, Field(description=_HIDDEN)]
    rows: Annotated[int | None, Field(description=f"rows that all scans have read so far; {_HIDDEN}")]
    bytes: Annotated[
        int | None,
        Field(description=f"bytes of files that they have read; {_HIDDEN}, or it is not known"),
    ]
    scans: list[ScanProgressAnswer]


def progress_answer(progress: QueryProgress) -> ProgressAnswer:
    """Returns the progress as it is on the wire."""
    counted = progress.counters
    return ProgressAnswer(
        phase=progress.phase,
        percent=progress.percent,
        stages=None if counted is None else _stages(counted),
        tasks=None if counted is None else _tasks(counted),
        rows=None if counted is None else counted.rows,
        bytes=None if counted is None else counted.bytes,
        scans=[_scan(scan) for scan in progress.scans],
    )


def _stages(counted: EngineProgress) -> StageCount:
    return StageCount(completed=counted.stages_completed, total=counted.stages_total)


def _tasks(counted: EngineProgress) -> TaskCount:
    completed, running, total = counted.tasks_completed, counted.tasks_running, counted.tasks_total
    return TaskCount(completed=completed, running=running, total=total)


def _scan(scan: ScanProgress) -> ScanProgressAnswer:
    return ScanProgressAnswer(
        table=scan.table,
        rows=scan.rows,
        data_files=ReadAnswer(read=scan.files_read, selected=scan.data_files),
        bytes=ReadAnswer(read=scan.bytes_read, selected=scan.data_bytes),
    )
