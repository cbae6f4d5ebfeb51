"""An error as the gateway reports it, and its text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a request and its place, as far as the gateway knows them."""

    detail: str
    pointer: str | None = None
    line: int | None = None
    column: int | None = None
    row: int | None = None
    field: str | None = None
    rule: str | None = None
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An error as the gateway reports it."""

    code: str
    detail: str
    status: int | None = None
    faults: Sequence[Fault] = ()
    query_id: UUID | None = None
    ingest_id: UUID | None = None
    retry_after_s: float | None = None
    request_id: UUID | None = None
    log_id: str | None = None
    explain_url: str | None = None
    commits: Sequence[Any] = ()
    note: str | None = None
    document: Mapping[str, Any] | None = None
    """All of it, if the gateway answered with it."""


_SHOWN_FAULTS = 5


def problem_text(problem: Problem) -> str:
    """Returns the problem with its first faults, and where to look further."""
    return "\n".join(_lines(problem))


def _lines(problem: Problem) -> list[str]:
    lines = [f"{problem.code}: {problem.detail}"]
    lines += [
        f"  {_fault(fault, problem.detail)}" for fault in problem.faults[:_SHOWN_FAULTS] if _has_place(fault)
    ]
    if len(problem.faults) > _SHOWN_FAULTS:
        lines.append(f"  and {len(problem.faults) - _SHOWN_FAULTS} more in `faults`")
    if problem.note is not None:
        lines.append(problem.note)
    if problem.explain_url is not None:
        lines.append(f"explanation: {problem.explain_url}")
    elif problem.query_id is not None:
        lines.append(f"query: {problem.query_id}")
    if problem.ingest_id is not None:
        lines.append(f"ingest: {problem.ingest_id}")
    return lines


def _has_place(fault: Fault) -> bool:
    return any((fault.pointer, fault.line, fault.row, fault.field, fault.nearest))


def _fault(fault: Fault, detail: str) -> str:
    """Returns the place and the detail of a fault; a problem with one fault has its detail already."""
    places = {"line": fault.line, "column": fault.column, "row": fault.row, "field": fault.field}
    known = [f"{name} {value}" for name, value in places.items() if value is not None]
    place = ", ".join([fault.pointer, *known] if fault.pointer else known)
    nearest = f"nearest: {', '.join(fault.nearest)}" if fault.nearest else ""
    own = "" if fault.detail == detail else fault.detail
    return ": ".join(part for part in (place, own, nearest) if part)
