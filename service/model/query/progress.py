"""Where a query waits, and how far one is that runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """The phase of a running query: keys are collected, the engine runs it, and its rows are stored."""

    PLANNING = "PLANNING"
    RUNNING = "RUNNING"
    WRITING = "WRITING"


@dataclass(frozen=True, slots=True)
class ScanProgress:
    """The rows, files and bytes that one scan has read so far; None: not known, or not shown.

    `data_files` and `data_bytes` are what it has to read, by the plan. `bytes_read` counts the parts of files
    that are read, and `files_read` the files that have such a part.
    """

    table: str | None
    rows: int | None = None
    files_read: int | None = None
    data_files: int | None = None
    bytes_read: int | None = None
    data_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineProgress:
    """The engine's counters of one query so far. They grow while the engine learns of more stages.

    `stages_planned` are the stages that the plan will have, as far as it is known. `rows` and `bytes` are
    what its scans have read; `bytes` is None if that is not known. `is_whole`: `scans` are all
    that it reads.
    """

    stages_completed: int = 0
    stages_total: int = 0
    stages_planned: int = 0
    tasks_completed: int = 0
    tasks_running: int = 0
    tasks_total: int = 0
    rows: int = 0
    bytes: int | None = None
    scans: tuple[ScanProgress, ...] = ()
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryProgress:
    """How far a query is, as its caller may see it.

    `percent` never falls, and is below 100. `counters` is None where they would show what policies hide.
    """

    phase: Phase
    percent: int
    counters: EngineProgress | None
    scans: tuple[ScanProgress, ...] = ()


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a query waits: 1 is the next of its group's line; 0: it is being planned.

    `estimated_wait_ms` is None until queries were seen to run.
    """

    position: int
    estimated_wait_ms: int | None
    group: str
